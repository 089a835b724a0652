"""Conversion of ``and`` and ``or`` inside a check to ``sym_and`` and ``sym_or``."""

from __future__ import annotations

import ast

from ...codemods.model.rule import Context
from ..analysis.decisions.condition_leaves import quantified
from ..analysis.must.must_type_inference import MustTypes
from ..analysis.must.sym_operator_equivalence import (
    compared_one_by_one,
    evaluated_throughout,
    evaluated_together,
    taken_apart,
)
from ..analysis.types.cannot_rewrite import CannotRewrite
from ..analysis.types.may_types import Kind
from .change_types import Apart, Change, Chosen, Joined, Quantified
from .qualified_names import guarded, joiner, spelled_out


class Joiner:
    """Collector of the changes to a condition, the imports that they need, and their doubts."""

    def __init__(self, surely: MustTypes, context: Context) -> None:
        self._module = surely.module
        self._surely = surely
        self._flow = surely.flow
        self._context = context
        self.changes: list[tuple[ast.expr, Change]] = []
        self.needs: list[str] = []
        self.doubts: list[str] = []

    def _spell(self, node: ast.AST, helper: str) -> str:
        spelled = spelled_out(self._module, node, guarded(helper), self._context)
        self.needs += spelled.needs
        return spelled.text

    def _joiner(self, node: ast.AST, both: bool) -> str:
        spelled = joiner(self._module, node, both, self._context)
        self.needs += spelled.needs
        return spelled.text

    def join(self, node: ast.expr) -> None:
        """Collect the changes after which ``node`` forces no operand. Raise CannotRewrite."""
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
        helper = self._joiner(rest[0], conjunction)
        self.changes.append((node, Joined(conjunction, len(node.values), len(lead), helper)))

    def _chain(self, node: ast.Compare) -> None:
        """Collect the change ``a <= b <= c`` → ``sym_and(a <= b, b <= c)``."""
        if self._flow.kind(node) is not Kind.TRUTH:
            return
        if len(node.ops) > 2:
            raise CannotRewrite("chained-comparison", "more than two comparisons in one; write them apart")
        self.doubts += taken_apart(self._surely, node)
        self.changes.append((node, Apart(self._joiner(node, True))))

    def _membership(self, node: ast.Compare) -> None:
        """Collect the change ``n in (0, 1)`` → ``sym_or(n == 0, n == 1)``."""
        if self._flow.kind(node) is not Kind.TRUTH or not self._flow.kind(node.left).symbolic_number:
            return
        inside = isinstance(node.ops[0], ast.In)
        choices, doubts = compared_one_by_one(self._surely, node)
        self.doubts += doubts
        helper = self._joiner(node, not inside) if len(choices) > 1 else None
        self.changes.append((node, Chosen(inside, helper)))

    def _quantifier(self, node: ast.expr) -> None:
        """Collect the change ``all(n > 0 for n in s)`` → ``sym_and(True, *(n > 0 for n in s))``."""
        assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        generator = node.args[0]
        assert isinstance(generator, (ast.GeneratorExp, ast.ListComp))
        if self._flow.kind(generator.elt) is not Kind.TRUTH:
            return
        self.doubts += evaluated_throughout(self._surely, node)
        helper, neutral = ("sym_and", "True") if node.func.id == "all" else ("sym_or", "False")
        self.changes.append((node, Quantified(self._spell(node, helper), neutral)))

    def _concrete(self, node: ast.expr) -> bool:
        return self._flow.kind(node) is Kind.CONCRETE and not self._symbolic(node)

    def _symbolic(self, node: ast.expr) -> bool:
        if quantified(node):
            assert isinstance(node, ast.Call) and isinstance(node.args[0], (ast.GeneratorExp, ast.ListComp))
            return self._flow.kind(node.args[0].elt) is Kind.TRUTH
        return self._flow.kind(node) is Kind.TRUTH

    def _may_force(self, node: ast.expr) -> bool:
        return self._symbolic(node) or (isinstance(node, ast.Compare) and self._flow.kind(node) is Kind.UNKNOWN)
