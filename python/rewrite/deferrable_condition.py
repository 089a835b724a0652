"""Rewriting of a condition, or its opposite, so that a check can defer it."""

from __future__ import annotations

import ast

from ...codemods.model.rule import Context
from ..analysis.decisions.condition_leaves import decided_inside, decides, quantified
from ..analysis.must.must_type_inference import MustTypes
from ..analysis.must.sym_operator_equivalence import (
    compared_one_by_one,
    doubts_of_sym_eq,
    evaluated_throughout,
    evaluated_together,
    taken_apart,
    unfit_for_sym_eq,
)
from ..analysis.types.cannot_rewrite import CannotRewrite
from ..analysis.types.may_types import Kind
from ..analysis.types.must_types import ScalarType
from .change_types import (
    Apart,
    Called,
    Change,
    Chosen,
    Compared,
    Equated,
    Joined,
    Plain,
    Quantified,
)
from .qualified_names import guarded, joiner, refusal, spelled_out


def deferred(surely: MustTypes, context: Context, place: ast.AST, node: ast.expr, truth: bool) -> DeferrableCondition:
    """Return the changes to ``node``, or to its opposite unless ``truth``, that force no size. Raise CannotRewrite."""
    deferral = DeferrableCondition(surely, context, place)
    deferral.condition(node, truth)
    return deferral


class DeferrableCondition:
    """Collector of the changes to a condition, the imports that they need, and their doubts."""

    def __init__(self, surely: MustTypes, context: Context, place: ast.AST) -> None:
        self._surely = surely
        self._module = surely.module
        self._flow = surely.flow
        self._context = context
        self._place = place
        self.changes: list[tuple[ast.expr, Change]] = []
        self.needs: list[str] = []
        self.doubts: list[str] = []

    def condition(self, node: ast.expr, truth: bool) -> None:
        """Collect the changes to ``node``, or to its opposite unless ``truth``. Raise CannotRewrite."""
        self._change(node, Plain.UNGROUPED)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self._change(node, Plain.AFFIRMED)
            self.condition(node.operand, not truth)
        elif isinstance(node, ast.BoolOp):
            self._operands(node, truth)
        elif isinstance(node, ast.Compare):
            self._undecided(node)
            self._comparison(node, truth)
        elif self._flow.kind(node) in (Kind.SIZE, Kind.STRIDE):
            self._undecided(node)
            self._nonzero(node, truth)
        elif quantified(node):
            self._quantifier(node, truth)
        elif self._flow.kind(node) is Kind.TRUTH:
            self._bool(node)
            self._opposite(node, truth)
        elif not truth:
            self._change(node, Plain.NEGATED)
        elif self._surely.of(node) is not ScalarType.TRUTH:
            raise CannotRewrite("not-a-bool", f"`{self._text(node)}` may be no bool, and a check takes nothing else")

    def symbol(self, name: str) -> str:
        """Return the spelling of a symbol here. Raise CannotRewrite."""
        spelled = spelled_out(self._module, self._place, name, self._context)
        self.needs += spelled.needs
        return spelled.text

    def _joiner(self, both: bool) -> str:
        spelled = joiner(self._module, self._place, both, self._context)
        self.needs += spelled.needs
        return spelled.text

    def _change(self, node: ast.expr, *changes: Change) -> None:
        self.changes += [(node, change) for change in changes]

    def _opposite(self, node: ast.expr, truth: bool) -> None:
        """Write ``sym_not`` around a SymBool, unless ``truth``."""
        if not truth:
            self._change(node, Called(self.symbol("torch.sym_not")))

    def _undecided(self, node: ast.expr) -> None:
        """Raise CannotRewrite if a part of ``node`` specializes a size before anything can be deferred."""
        part = decided_inside(self._flow, node)
        if isinstance(part, ast.Compare):
            raise CannotRewrite("not-a-bool", f"`{ast.unparse(part)}` compares an array, and a check takes a bool")
        if part is not None:
            raise CannotRewrite(
                "decided-inside", f"`{ast.unparse(part)}` decides a size before the check can wait for it"
            )

    def _bool(self, node: ast.expr) -> None:
        if self._surely.of(node) is not ScalarType.TRUTH:
            self.doubts.append(f"`{ast.unparse(node)}` is taken for a bool")

    def _nonzero(self, node: ast.expr, truth: bool) -> None:
        """Compare a size whose truth is used with 0."""
        if self._surely.of(node) not in (ScalarType.WHOLE, ScalarType.NUMBER):
            raise CannotRewrite(
                "may-be-none", f"`{self._text(node)}` may be None or no number, whose truth is another question"
            )
        self._change(node, Compared("!=" if truth else "=="))

    def _operands(self, node: ast.BoolOp, truth: bool) -> None:
        conjunction = isinstance(node.op, ast.And)
        both = conjunction is truth
        for value in node.values:
            self.condition(value, truth)
        concrete = next((at for at, one in enumerate(node.values) if self._symbolic(one)), len(node.values))
        lead, rest = node.values[:concrete], node.values[concrete:]
        helper = None
        if len(rest) > 1 and any(self._symbolic(value) for value in rest[:-1]):
            self.doubts += evaluated_together(self._surely, lead, rest, lead_holds=conjunction)
            helper = self._joiner(both)
        self._change(node, Joined(both, len(node.values), concrete, helper))

    def _comparison(self, node: ast.Compare, truth: bool) -> None:
        op, left, right = node.ops[0], node.left, node.comparators[0]
        if len(node.ops) > 1:
            self._chain(node, truth)
            return
        if self._flow.comparison(node).of_shapes:
            self._shapes(node, truth)
            return
        if isinstance(op, (ast.In, ast.NotIn)):
            if self._flow.kind(left).symbolic_number:
                self._membership(node, isinstance(op, ast.In) is truth)
                return
        elif self._surely.of(node) is not ScalarType.TRUTH:
            # The trace of a tested program has shown that something here is symbolic.
            if not truth and _ordered(op) and self._flow.kind(node) is Kind.UNKNOWN and not self._context.tried:
                self._change(node, Plain.NEGATED)
                return
            if not truth and _ordered(op) and self._may_be_nan(node):
                raise CannotRewrite(
                    "may-be-nan", "a float may be NaN, of which an order and its opposite are both false"
                )
            self.doubts.append(f"`{ast.unparse(node)}` compares sizes; other values may give no bool, or be no numbers")
        elif not truth and _ordered(op) and not (self._surely.whole(left) and self._surely.whole(right)):
            # A float may be NaN, of which an order and its opposite are both false.
            self._opposite(node, truth)
            return
        if not truth:
            self._change(node, Plain.REVERSED)

    def _may_be_nan(self, node: ast.Compare) -> bool:
        sides = (node.left, *node.comparators)
        return any(self._surely.of(side) is ScalarType.FLOAT for side in sides)

    def _shapes(self, node: ast.Compare, truth: bool) -> None:
        equal = guarded("sym_eq")
        if refusal(self._module, self._place, equal, self._context):
            # Dynamo compares shapes without guarding on their sizes.
            self._bool(node)
            if not truth:
                self._change(node, Plain.REVERSED)
            return
        unfit = unfit_for_sym_eq(self._surely, node)
        if unfit:
            raise CannotRewrite(*unfit)
        self.doubts += doubts_of_sym_eq(self._surely, node)
        self._change(node, Equated(self.symbol(equal)))
        self._opposite(node, isinstance(node.ops[0], ast.Eq) is truth)

    def _chain(self, node: ast.Compare, truth: bool) -> None:
        if self._flow.kind(node) is Kind.CONCRETE:
            self._bool(node)
            if not truth:
                self._change(node, Plain.NEGATED)
            return
        self.doubts += taken_apart(self._surely, node)
        whole = all(self._surely.whole(side) for side in (node.left, *node.comparators))
        if not whole and not truth and any(map(_ordered, node.ops)) and self._surely.compares(node):
            raise CannotRewrite("chained-comparison", "a float may be NaN; write the comparisons apart")
        self._change(node, Apart(self._joiner(truth), opposite=not truth))

    def _membership(self, node: ast.Compare, inside: bool) -> None:
        choices, doubts = compared_one_by_one(self._surely, node)
        self.doubts += doubts
        helper = self._joiner(not inside) if len(choices) > 1 else None
        self._change(node, Chosen(inside, helper))

    def _quantifier(self, node: ast.expr, truth: bool) -> None:
        """Collect the changes of ``any`` and ``all``.

        Negated, ``any(n != m for ...)`` becomes ``sym_and(True, *(n == m for ...))``.
        """
        assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        generator = node.args[0]
        assert isinstance(generator, (ast.GeneratorExp, ast.ListComp))
        if self._flow.kind(generator.elt) is not Kind.TRUTH:
            if any(decides(self._flow, part) for part in ast.walk(node) if isinstance(part, ast.expr)):
                raise CannotRewrite(
                    "decided-inside", f"`{ast.unparse(node)}` decides a size before the check can wait for it"
                )
            if not truth:
                self._change(node, Plain.NEGATED)
            return
        self.doubts += evaluated_throughout(self._surely, node)
        helper, neutral = ("sym_and", "True") if (node.func.id == "all") is truth else ("sym_or", "False")
        self.condition(generator.elt, truth)
        self._change(node, Quantified(self.symbol(guarded(helper)), neutral))

    def _symbolic(self, node: ast.expr) -> bool:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self._symbolic(node.operand)
        if quantified(node):
            assert isinstance(node, ast.Call) and isinstance(node.args[0], (ast.GeneratorExp, ast.ListComp))
            return self._flow.kind(node.args[0].elt) is Kind.TRUTH
        if self._context.tried and isinstance(node, ast.Compare) and self._flow.kind(node) is Kind.UNKNOWN:
            return not isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn))
        return self._flow.kind(node) in (Kind.TRUTH, Kind.SIZE, Kind.STRIDE)

    def _text(self, node: ast.expr) -> str:
        return self._module.text(node).decode()


def _ordered(op: ast.cmpop) -> bool:
    return isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE))
