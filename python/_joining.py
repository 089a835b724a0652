"""Turn ``and``/``or`` into ``sym_and``/``sym_or`` where that changes nothing but when a size is decided."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Sequence

from ..codemods.edits import Edit
from ..codemods.rule import Context
from ._flow import Flow
from ._module import Module
from ._pieces import Pieces
from ._spelling import guarded, spell
from ._truths import quantified
from ._values import Kind
from ._wrap import join_with_commas


class Unfit(Exception):
    """The condition cannot be joined; ``reason`` is a stable word, ``detail`` a sentence."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail


class Joiner:
    """Collects the edits of one condition, and the imports they need."""

    def __init__(self, module: Module, flow: Flow, context: Context) -> None:
        self._module = module
        self._flow = flow
        self._context = context
        self._pieces = Pieces()
        self.needs: list[str] = []

    @property
    def edits(self) -> tuple[Edit, ...]:
        return self._pieces.edits()

    def _spell(self, node: ast.AST, helper: str) -> str:
        spelled = spell(self._module, node, guarded(helper), self._context)
        if spelled is None:
            raise Unfit("name-taken", f"`{helper}` means something else here, or this torch has none")
        self.needs += spelled.needs
        return spelled.text

    def join(self, node: ast.expr) -> None:
        """Collect the edits that make ``node`` force nothing; raises Unfit."""
        if isinstance(node, ast.BoolOp):
            self._operands(node)
        elif isinstance(node, ast.Compare) and len(node.ops) == 2:
            self._chain(node)
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In):
            self._membership(node)
        elif quantified(node):
            self._quantifier(node)
        elif isinstance(node, ast.Call) and self._symbolic(node):
            for argument in node.args:
                self.join(argument)

    def _operands(self, node: ast.BoolOp) -> None:
        rest = list(node.values)
        while rest and self._concrete(rest[0]):
            rest.pop(0)
        for value in rest:
            self.join(value)
        if (
            len(rest) < 2
            or not any(self._symbolic(value) for value in rest)
            or not any(map(self._may_force, rest[:-1]))
        ):
            return
        evaluated_together(self._module, self._flow, rest)
        helper = "sym_and" if isinstance(node.op, ast.And) else "sym_or"
        self._call(rest, helper)

    def _call(self, operands: Sequence[ast.expr], helper: str) -> None:
        start = self._module.grouped_span(operands[0])[0]
        end = self._module.grouped_span(operands[-1])[1]
        self._pieces.open(start, self._spell(operands[0], helper) + "(")
        for left, right in itertools.pairwise(operands):
            self._pieces.take(join_with_commas(self._module, left, right))
        for operand in operands:
            self._ungroup(operand)
        self._pieces.close(end, ")")

    def _ungroup(self, operand: ast.expr) -> None:
        """Parentheses around an argument say nothing."""
        start, end = self._module.grouped_span(operand)
        inner_start, inner_end = self._module.span(operand)
        content = self._module.source.content
        if start != inner_start and not content[start + 1 : inner_start] + content[inner_end : end - 1]:
            self._pieces.replace(start, start + 1, "")
            self._pieces.drop(end - 1, end)

    def _chain(self, node: ast.Compare) -> None:
        """``a <= b <= c`` → ``sym_and(a <= b, b <= c)``."""
        if self._flow.kind(node) is not Kind.TRUTH:
            return
        middle = node.comparators[0]
        if not isinstance(middle, (ast.Name, ast.Constant, ast.Attribute, ast.Subscript)):
            raise Unfit("chained-comparison", "what stands in the middle would be evaluated twice")
        start, end = self._module.grouped_span(node)
        after = self._module.grouped_span(middle)[1]
        self._pieces.open(start, self._spell(node, "sym_and") + "(")
        self._pieces.close(after, ", " + self._module.text(middle).decode())
        self._pieces.close(end, ")")

    def _membership(self, node: ast.Compare) -> None:
        """``n in (0, 1)`` → ``sym_or(n == 0, n == 1)``."""
        choices = node.comparators[0]
        if self._flow.kind(node) is not Kind.TRUTH or not isinstance(choices, (ast.Tuple, ast.List, ast.Set)):
            return
        if not isinstance(node.left, (ast.Name, ast.Subscript, ast.Attribute)) or len(choices.elts) < 2:
            raise Unfit("membership", "what is looked up would be evaluated more than once")
        left = self._module.text(node.left).decode()
        text = ", ".join(f"{left} == {self._module.text(one).decode()}" for one in choices.elts)
        self._pieces.replace(*self._module.span(node), f"{self._spell(node, 'sym_or')}({text})")

    def _quantifier(self, node: ast.expr) -> None:
        """``all(n > 0 for n in s)`` → ``sym_and(True, *(n > 0 for n in s))``."""
        assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        generator = node.args[0]
        assert isinstance(generator, (ast.GeneratorExp, ast.ListComp))
        if self._flow.kind(generator.elt) is not Kind.TRUTH or any(one.ifs for one in generator.generators):
            return
        if isinstance(generator.elt, ast.BoolOp):
            raise Unfit("quantified-and", "the operands inside the generator are forced one by one")
        helper, neutral = ("sym_and", "True") if node.func.id == "all" else ("sym_or", "False")
        name = self._spell(node, helper)
        start, end = self._module.span(node)
        inner_start, inner_end = self._module.span(generator)
        if isinstance(generator, ast.GeneratorExp) and inner_end == end:  # its parentheses are those of the call
            self._pieces.replace(start, inner_start + 1, f"{name}({neutral}, *(")
            self._pieces.close(end, ")")
            return
        self._pieces.replace(start, inner_start, f"{name}({neutral}, *")

    def _concrete(self, node: ast.expr) -> bool:
        return self._flow.kind(node) is Kind.CONCRETE and not self._symbolic(node)

    def _symbolic(self, node: ast.expr) -> bool:
        if quantified(node):
            assert isinstance(node, ast.Call) and isinstance(node.args[0], (ast.GeneratorExp, ast.ListComp))
            return self._flow.kind(node.args[0].elt) is Kind.TRUTH
        return self._flow.kind(node) is Kind.TRUTH

    def _may_force(self, node: ast.expr) -> bool:
        return self._symbolic(node) or (isinstance(node, ast.Compare) and self._flow.kind(node) is Kind.UNKNOWN)


def evaluated_together(module: Module, flow: Flow, operands: Sequence[ast.expr]) -> None:
    """Raise Unfit when an operand may only be evaluated after one before it was found true (or false)."""
    for number, operand in enumerate(operands[1:], 1):
        plain = isinstance(operand, (ast.Compare, ast.Name, ast.BoolOp, ast.UnaryOp)) or quantified(operand)
        if flow.kind(operand) is not Kind.TRUTH and not plain:
            raise Unfit("not-a-comparison", f"`{module.text(operand).decode()}` may be no bool")
        guarding = {name for earlier in operands[:number] for name in _names(earlier)}
        for part in ast.walk(operand):
            if isinstance(part, ast.Subscript) and _names(part.slice) & guarding:
                raise Unfit("guarded-operand", "an index is looked up only after an operand before it allowed it")
            divides = isinstance(part, ast.BinOp) and isinstance(part.op, (ast.Div, ast.FloorDiv, ast.Mod))
            if divides and isinstance(part, ast.BinOp) and _names(part.right) & guarding:
                raise Unfit("guarded-operand", "a division is made only after an operand before it allowed it")


def _names(node: ast.AST) -> set[str]:
    return {ast.unparse(one) for one in ast.walk(node) if isinstance(one, (ast.Name, ast.Attribute, ast.Subscript))}
