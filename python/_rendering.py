"""Write a condition anew, or its opposite, so that a check can defer it."""

from __future__ import annotations

import ast

from ..codemods.engine.rule import Context
from ._certain import Sure
from ._decided import decides
from ._lines import one_line
from ._shapes import compared_shapes, doubts_of_sym_eq, unfit_for_sym_eq
from ._spelling import guarded, spell
from ._surely import Surely
from ._together import Unfit, compared_one_by_one, evaluated_throughout, evaluated_together, taken_apart
from ._truths import quantified
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
    """Renders conditions of one place; ``needs`` collects the imports, ``doubts`` what may matter for other values."""

    def __init__(self, surely: Surely, context: Context, place: ast.AST) -> None:
        self._surely = surely
        self._module = surely.module
        self._flow = surely.flow
        self._context = context
        self._place = place
        self.needs: list[str] = []
        self.doubts: list[str] = []

    def condition(self, node: ast.expr, truth: bool) -> str:
        """``node`` when ``truth``, else its opposite, as a bool or SymBool that decides no size; raises Unfit."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self.condition(node.operand, not truth)
        if isinstance(node, ast.BoolOp):
            return self._operands(node, truth)
        if isinstance(node, ast.Compare):
            self._undecided(node)
            return self._comparison(node, truth)
        if self._flow.kind(node) in (Kind.SIZE, Kind.STRIDE):
            self._undecided(node)
            return self._nonzero(node, truth)
        if quantified(node):
            return self._quantifier(node, truth)
        if self._flow.kind(node) is Kind.TRUTH:
            self._bool(node)
            return self._text(node) if truth else f"{self._spell('torch.sym_not')}({self._text(node)})"
        if not truth:
            return f"not {self._tight(node)}"
        if self._surely.of(node) is not Sure.TRUTH:
            raise Unfit("not-a-bool", f"`{self._text(node)}` may be no bool, and a check takes nothing else")
        return self._text(node)

    def symbol(self, name: str) -> str:
        return self._spell(name)

    def _undecided(self, node: ast.expr) -> None:
        """Raise Unfit where a part of ``node`` decides a size before anything can be deferred."""
        for part in ast.walk(node):
            if isinstance(part, ast.Compare) and self._flow.kind(part) is Kind.FOREIGN:
                raise Unfit("not-a-bool", f"`{ast.unparse(part)}` compares an array, and a check takes a bool")
            if isinstance(part, ast.expr) and part is not node and decides(self._surely, part):
                raise Unfit("decided-inside", f"`{ast.unparse(part)}` decides a size before the check can wait for it")

    def _bool(self, node: ast.expr) -> None:
        if self._surely.of(node) is not Sure.TRUTH:
            self.doubts.append(f"`{ast.unparse(node)}` is taken for a bool")

    def _nonzero(self, node: ast.expr, truth: bool) -> str:
        """A size asked for its truth."""
        if self._surely.of(node) not in (Sure.WHOLE, Sure.NUMBER):
            raise Unfit(
                "may-be-none", f"`{self._text(node)}` may be None or no number, whose truth is another question"
            )
        loose = isinstance(node, (ast.IfExp, ast.Lambda, ast.NamedExpr, ast.BoolOp))
        text = self._text(node)
        return f"{f'({text})' if loose else text} {'!=' if truth else '=='} 0"

    def _operands(self, node: ast.BoolOp, truth: bool) -> str:
        conjunction = isinstance(node.op, ast.And)
        both = conjunction is truth
        words = [self.condition(value, truth) for value in node.values]
        concrete = next((at for at, one in enumerate(node.values) if self._symbolic(one)), len(node.values))
        lead, rest = node.values[:concrete], node.values[concrete:]
        if len(rest) > 1 and any(self._symbolic(value) for value in rest[:-1]):
            self.doubts += evaluated_together(self._surely, lead, rest, lead_holds=conjunction)
            helper = self._spell(guarded("sym_and" if both else "sym_or"))
            joined = [f"{helper}({', '.join(words[concrete:])})"]
        else:
            joined = [self._operand(word) for word in words[concrete:]]
        return (" and " if both else " or ").join([*(self._operand(word) for word in words[:concrete]), *joined])

    def _operand(self, text: str) -> str:
        """Parentheses around what binds more loosely than ``and``."""
        try:
            loose = isinstance(ast.parse(text, mode="eval").body, (ast.BoolOp, ast.IfExp, ast.Lambda))
        except SyntaxError:
            loose = True
        return f"({text})" if loose else text

    def _comparison(self, node: ast.Compare, truth: bool) -> str:
        op, left, right = node.ops[0], node.left, node.comparators[0]
        if len(node.ops) > 1:
            return self._chain(node, truth)
        shapes = compared_shapes(self._flow, node)
        if shapes is not None:
            return self._shapes(shapes, truth)
        if isinstance(op, (ast.In, ast.NotIn)):
            if self._flow.kind(left).symbolic_number:
                return self._membership(node, isinstance(op, ast.In) is truth)
        elif self._surely.of(node) is not Sure.TRUTH:
            if not truth and _ordered(op) and self._flow.kind(node) is Kind.UNKNOWN:
                return f"not ({self._text(node)})"
            if not truth and _ordered(op) and self._may_be_nan(node):
                raise Unfit("may-be-nan", "a float may be NaN, of which an order and its opposite are both false")
            self.doubts.append(f"`{ast.unparse(node)}` compares sizes; other values may give no bool, or be no numbers")
        elif not truth and _ordered(op) and not (self._surely.whole(left) and self._surely.whole(right)):
            # A float may be NaN, of which an order and its opposite are both false.
            return f"{self._spell('torch.sym_not')}({self._text(node)})"
        if truth:
            return self._text(node)
        return f"{self._text(left)} {_OPPOSITE[type(op)]} {self._text(right)}"

    def _may_be_nan(self, node: ast.Compare) -> bool:
        sides = (node.left, *node.comparators)
        return any(self._surely.of(side) is Sure.FLOAT for side in sides)

    def _shapes(self, node: ast.Compare, truth: bool) -> str:
        unfit = unfit_for_sym_eq(self._surely, node)
        if unfit:
            raise Unfit(*unfit)
        self.doubts += doubts_of_sym_eq(self._surely, node)
        sides = f"{self._text(node.left)}, {self._text(node.comparators[0])}"
        equal = f"{self._spell(guarded('sym_eq'))}({sides})"
        if isinstance(node.ops[0], ast.Eq) is truth:
            return equal
        return f"{self._spell('torch.sym_not')}({equal})"

    def _chain(self, node: ast.Compare, truth: bool) -> str:
        if self._flow.kind(node) is Kind.CONCRETE:
            self._bool(node)
            return f"{'' if truth else 'not '}{self._text(node)}"
        self.doubts += taken_apart(self._surely, node)
        sides = [node.left, *node.comparators]
        whole = all(self._surely.whole(side) for side in sides)
        if not whole and not truth and any(map(_ordered, node.ops)) and self._surely.compares(node):
            raise Unfit("chained-comparison", "a float may be NaN; write the comparisons apart")
        table = _SAME if truth else _OPPOSITE
        words = [
            f"{self._text(left)} {table[type(op)]} {self._text(right)}"
            for left, op, right in zip(sides, node.ops, sides[1:], strict=False)
        ]
        return f"{self._spell(guarded('sym_and' if truth else 'sym_or'))}({', '.join(words)})"

    def _membership(self, node: ast.Compare, inside: bool) -> str:
        choices, doubts = compared_one_by_one(self._surely, node)
        self.doubts += doubts
        words = [f"{self._text(node.left)} {'==' if inside else '!='} {self._text(one)}" for one in choices]
        if len(words) == 1:
            return words[0]
        return f"{self._spell(guarded('sym_or' if inside else 'sym_and'))}({', '.join(words)})"

    def _quantifier(self, node: ast.expr, truth: bool) -> str:
        """``any(n != m for ...)``, negated: ``sym_and(True, *(n == m for ...))``."""
        assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        generator = node.args[0]
        assert isinstance(generator, (ast.GeneratorExp, ast.ListComp))
        if self._flow.kind(generator.elt) is not Kind.TRUTH:
            if any(decides(self._surely, part) for part in ast.walk(node) if isinstance(part, ast.expr)):
                raise Unfit("decided-inside", f"`{ast.unparse(node)}` decides a size before the check can wait for it")
            return self._text(node) if truth else f"not {self._text(node)}"
        self.doubts += evaluated_throughout(self._surely, node)
        helper, neutral = ("sym_and", "True") if (node.func.id == "all") is truth else ("sym_or", "False")
        element = self.condition(generator.elt, truth)
        # A generator's place includes its parentheses, which may be those of the call.
        start, end = self._module.grouped_span(generator.elt)[1], self._module.span(generator)[1] - 1
        loops = one_line(f"[{element}{self._module.source.content[start:end].decode()}]")[1:-1]
        opening, closing = ("[", "]") if isinstance(generator, ast.ListComp) else ("(", ")")
        return f"{self._spell(guarded(helper))}({neutral}, *{opening}{loops}{closing})"

    def _symbolic(self, node: ast.expr) -> bool:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self._symbolic(node.operand)
        if quantified(node):
            assert isinstance(node, ast.Call) and isinstance(node.args[0], (ast.GeneratorExp, ast.ListComp))
            return self._flow.kind(node.args[0].elt) is Kind.TRUTH
        return self._flow.kind(node) in (Kind.TRUTH, Kind.SIZE, Kind.STRIDE)

    def _tight(self, node: ast.expr) -> str:
        text = self._text(node)
        return f"({text})" if isinstance(node, (ast.IfExp, ast.Lambda, ast.NamedExpr, ast.BoolOp)) else text

    def _text(self, node: ast.expr) -> str:
        start, end = self._module.span(node)
        text = one_line(self._module.source.content[start:end].decode())
        loose = isinstance(node, (ast.IfExp, ast.Lambda, ast.NamedExpr, ast.GeneratorExp))
        return f"({text})" if loose and not text.startswith("(") else text

    def _spell(self, symbol: str) -> str:
        spelled = spell(self._module, self._place, symbol, self._context)
        if spelled is None:
            raise Unfit("name-taken", f"`{symbol}` means something else here, or this torch has none")
        self.needs += spelled.needs
        return spelled.text


def _ordered(op: ast.cmpop) -> bool:
    return isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE))
