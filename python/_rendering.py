"""Write a condition anew, or its opposite, so that a check can defer it."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ..codemods.rule import Context
from ._flow import Flow
from ._joining import Unfit, evaluated_together
from ._layout import unbreakable
from ._module import Module
from ._shapes import compared_shapes, unfit_for_sym_eq
from ._spelling import guarded, spell
from ._values import Kind

_OPPOSITE: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Lt: ">=",
    ast.LtE: ">",
    ast.Gt: "<=",
    ast.GtE: "<",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
_SAME: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}


class Renderer:
    """Renders conditions of one place; ``needs`` collects the imports."""

    def __init__(self, module: Module, flow: Flow, context: Context, place: ast.AST) -> None:
        self._module = module
        self._flow = flow
        self._context = context
        self._place = place
        self.needs: list[str] = []

    def condition(self, node: ast.expr, truth: bool) -> str:
        """``node`` when ``truth``, else its opposite, as a bool or SymBool; raises Unfit."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self.condition(node.operand, not truth)
        if isinstance(node, ast.BoolOp):
            return self._operands(node, truth)
        if isinstance(node, ast.Compare):
            return self._comparison(node, truth)
        if self._flow.kind(node) in (Kind.SIZE, Kind.STRIDE):
            return f"{self._text(node)} {'!=' if truth else '=='} 0"
        if self._flow.kind(node) is Kind.TRUTH:
            return self._text(node) if truth else f"{self._spell('torch.sym_not')}({self._text(node)})"
        if not truth:
            return f"not {self._tight(node)}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _BOOLEAN_CALLS:
            return self._text(node)
        if isinstance(node, ast.Constant) and isinstance(node.value, bool):
            return self._text(node)
        raise Unfit("not-a-bool", f"`{self._text(node)}` may be no bool, and a check takes nothing else")

    def symbol(self, name: str) -> str:
        return self._spell(name)

    def _operands(self, node: ast.BoolOp, truth: bool) -> str:
        both = isinstance(node.op, ast.And) is truth
        rest = list(node.values)
        words = [self.condition(value, truth) for value in rest]
        lead: list[str] = []
        while rest and not self._symbolic(rest[0]):
            rest.pop(0)
            lead.append(self._operand(words.pop(0)))
        if len(rest) > 1 and any(self._symbolic(value) for value in rest[:-1]):
            evaluated_together(self._module, self._flow, rest)
            helper = self._spell(guarded("sym_and" if both else "sym_or"))
            words = [f"{helper}({', '.join(words)})"]
        else:
            words = [self._operand(word) for word in words]
        return (" and " if both else " or ").join([*lead, *words])

    def _operand(self, text: str) -> str:
        """Parentheses around what binds more loosely than ``and``."""
        try:
            loose = isinstance(ast.parse(text, mode="eval").body, (ast.BoolOp, ast.IfExp, ast.Lambda))
        except SyntaxError:
            loose = True
        return f"({text})" if loose else text

    def _comparison(self, node: ast.Compare, truth: bool) -> str:
        if len(node.ops) > 1:
            return self._chain(node, truth)
        shapes = compared_shapes(self._flow, node)
        if shapes is not None:
            return self._shapes(shapes, truth)
        op, left, right = node.ops[0], node.left, node.comparators[0]
        if isinstance(op, (ast.In, ast.NotIn)) and self._flow.kind(left).symbolic_number:
            return self._membership(left, right, isinstance(op, ast.In) is truth)
        ordered = isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE))
        if not truth and ordered and self._flow.kind(node) is Kind.UNKNOWN:
            return f"not ({self._text(node)})"
        if truth:
            return self._text(node)
        return f"{self._text(left)} {_OPPOSITE[type(op)]} {self._text(right)}"

    def _shapes(self, node: ast.Compare, truth: bool) -> str:
        unfit = unfit_for_sym_eq(self._flow, node)
        if unfit:
            raise Unfit(*unfit)
        sides = f"{self._text(node.left)}, {self._text(node.comparators[0])}"
        equal = f"{self._spell(guarded('sym_eq'))}({sides})"
        if isinstance(node.ops[0], ast.Eq) is truth:
            return equal
        return f"{self._spell('torch.sym_not')}({equal})"

    def _chain(self, node: ast.Compare, truth: bool) -> str:
        sides = [node.left, *node.comparators]
        if any(isinstance(one, (ast.Call, ast.NamedExpr, ast.Await)) for side in sides[1:-1] for one in ast.walk(side)):
            raise Unfit("chained-comparison", "what stands in the middle would be evaluated twice")
        table = _SAME if truth else _OPPOSITE
        words = [
            f"{self._text(left)} {table[type(op)]} {self._text(right)}"
            for left, op, right in zip(sides, node.ops, sides[1:], strict=False)
        ]
        return f"{self._spell(guarded('sym_and' if truth else 'sym_or'))}({', '.join(words)})"

    def _membership(self, left: ast.expr, choices: ast.expr, inside: bool) -> str:
        if not isinstance(choices, (ast.Tuple, ast.List, ast.Set)) or not isinstance(left, (ast.Name, ast.Subscript)):
            raise Unfit("membership", "what is looked up would be evaluated more than once")
        words = [f"{self._text(left)} {'==' if inside else '!='} {self._text(one)}" for one in choices.elts]
        if len(words) == 1:
            return words[0]
        return f"{self._spell(guarded('sym_or' if inside else 'sym_and'))}({', '.join(words)})"

    def _symbolic(self, node: ast.expr) -> bool:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self._symbolic(node.operand)
        return self._flow.kind(node) in (Kind.TRUTH, Kind.SIZE, Kind.STRIDE)

    def _tight(self, node: ast.expr) -> str:
        text = self._text(node)
        return f"({text})" if isinstance(node, (ast.IfExp, ast.Lambda, ast.NamedExpr, ast.BoolOp)) else text

    def _text(self, node: ast.expr) -> str:
        start, end = self._module.span(node)
        text = self._module.source.content[start:end].decode()
        if "#" in text and "\n" in text:
            raise Unfit("comment-inside", "a comment stands inside the condition")
        if isinstance(node, (ast.IfExp, ast.Lambda, ast.NamedExpr)):
            return f"({one_line(text)})"
        return one_line(text)

    def _spell(self, symbol: str) -> str:
        spelled = spell(self._module, self._place, symbol, self._context)
        if spelled is None:
            raise Unfit("name-taken", f"`{symbol}` means something else here, or this torch has none")
        self.needs += spelled.needs
        return spelled.text


_BOOLEAN_CALLS = frozenset({"isinstance", "callable", "hasattr", "bool", "issubclass", "any", "all"})


def one_line(text: str) -> str:
    """The text with its line breaks taken out; raises Unfit where that would change a string."""
    if "\n" not in text:
        return text
    if unbreakable(text):
        raise Unfit("multi-line", "a string or a backslash goes over the end of a line")
    lines: Sequence[str] = [line.strip() for line in text.splitlines()]
    joined = " ".join(lines)
    return joined.replace("( ", "(").replace(" )", ")").replace("[ ", "[").replace(" ]", "]").replace(",)", ")")
