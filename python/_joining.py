"""Turn ``and``/``or`` into ``sym_and``/``sym_or`` where that changes nothing but when a size is decided."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Sequence

from ..codemods.engine.edits import Edit
from ..codemods.engine.rule import Context
from ._pieces import Pieces
from ._spelling import guarded, spell
from ._surely import Surely
from ._together import Unfit, compared_one_by_one, evaluated_throughout, evaluated_together, taken_apart
from ._truths import quantified
from ._values import Kind
from ._wrap import join_with_commas


class Joiner:
    """Collects the edits of one condition, the imports they need, and what leaves a doubt of them."""

    def __init__(self, surely: Surely, context: Context) -> None:
        self._module = surely.module
        self._surely = surely
        self._flow = surely.flow
        self._context = context
        self._pieces = Pieces()
        self.needs: list[str] = []
        self.doubts: list[str] = []

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
        elif isinstance(node, ast.Compare) and len(node.ops) > 1:
            self._chain(node)
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            self._membership(node)
        elif quantified(node):
            self._quantifier(node)
        elif isinstance(node, ast.Call) and self._symbolic(node):
            for argument in node.args:
                self.join(argument)

    def _operands(self, node: ast.BoolOp) -> None:
        concrete = next((at for at, one in enumerate(node.values) if not self._concrete(one)), len(node.values))
        lead, rest = node.values[:concrete], node.values[concrete:]
        for value in rest:
            self.join(value)
        if (
            len(rest) < 2
            or not any(self._symbolic(value) for value in rest)
            or not any(map(self._may_force, rest[:-1]))
        ):
            return
        conjunction = isinstance(node.op, ast.And)
        self.doubts += evaluated_together(self._surely, lead, rest, lead_holds=conjunction)
        self._call(rest, "sym_and" if conjunction else "sym_or")

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
        if len(node.ops) > 2:
            raise Unfit("chained-comparison", "more than two comparisons in one; write them apart")
        middle = node.comparators[0]
        self.doubts += taken_apart(self._surely, node)
        start, end = self._module.grouped_span(node)
        after = self._module.grouped_span(middle)[1]
        self._pieces.open(start, self._spell(node, "sym_and") + "(")
        self._pieces.close(after, ", " + self._module.text(middle).decode())
        self._pieces.close(end, ")")

    def _membership(self, node: ast.Compare) -> None:
        """``n in (0, 1)`` → ``sym_or(n == 0, n == 1)``."""
        if self._flow.kind(node) is not Kind.TRUTH or not self._flow.kind(node.left).symbolic_number:
            return
        inside = isinstance(node.ops[0], ast.In)
        choices, doubts = compared_one_by_one(self._surely, node)
        self.doubts += doubts
        left = self._module.text(node.left).decode()
        words = [f"{left} {'==' if inside else '!='} {self._module.text(one).decode()}" for one in choices]
        text = ", ".join(words)
        if len(words) > 1:
            text = f"{self._spell(node, 'sym_or' if inside else 'sym_and')}({text})"
        self._pieces.replace(*self._module.span(node), text)

    def _quantifier(self, node: ast.expr) -> None:
        """``all(n > 0 for n in s)`` → ``sym_and(True, *(n > 0 for n in s))``."""
        assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        generator = node.args[0]
        assert isinstance(generator, (ast.GeneratorExp, ast.ListComp))
        if self._flow.kind(generator.elt) is not Kind.TRUTH:
            return
        self.doubts += evaluated_throughout(self._surely, node)
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
