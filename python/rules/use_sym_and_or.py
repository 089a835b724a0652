"""Join the operands of a check symbolically: ``_check(a == 1 and b == 2)`` → ``_check(sym_and(a == 1, b == 2))``.

What: ``and``, ``or``, chained comparisons, ``in`` and ``all(...)``/``any(...)`` in the condition of a ``torch._check``,
when an operand before the last compares sizes. Leading concrete operands are unchanged: ``ndim == 4 and sym_and(...)``.

Why: ``and`` calls ``bool()`` on every operand but the last, which forces a guard on a size before the check can defer
it.

Leaves alone: an operand that is safe to evaluate only after the one before it (an index, a division). Conditions whose
only comparison of sizes is the last operand, which are right already.

Safety: safe if every operand is proven to be a bool and can be evaluated in any case. Examples are names, constants,
sums and products of sizes, and properties of a tensor with enough dimensions. Else unsafe, and the fix lists the values
for which it differs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.model.rule import Context, Fix, Rule, Safety, Skip
from ...codemods.model.source_file import SourceFile
from ..analysis.decisions.condition_leaves import check_conditions, forces
from ..analysis.flow.fix_eligibility import obstacle
from ..analysis.flow.flow import Flow, flow
from ..analysis.must.must_type_inference import MustTypes, surely
from ..analysis.types.cannot_rewrite import CannotRewrite
from ..rewrite.deferrable_condition import DeferrableCondition, deferred
from ..rewrite.findings import CHECK_MARKERS, change, skip
from ..rewrite.sym_and_or import Joiner
from ..syntax.module import Place, parse

NAME = "use_sym_and_or"


def decide(source: SourceFile, context: Context) -> Iterator[Fix | Skip]:
    module = parse(source)
    known = flow(module)
    for condition in check_conditions(module):
        place = module.place(condition)
        if not place.in_format_string:
            yield from _answer(place, known, condition, context)


def _answer(place: Place, known: Flow, condition: ast.expr, context: Context) -> Iterator[Fix | Skip]:
    try:
        found = _joined(surely(place.module), known, condition, context)
    except CannotRewrite as unfit:
        yield skip(NAME, place, unfit.reason, unfit.detail)
        return
    if found is None:
        return
    stop = obstacle(place, context)
    if stop:
        yield skip(NAME, place, *stop)
        return
    message = f"`{place.text}` forces its operands one by one"
    yield change(NAME, place, found.changes, message, found.needs, found.doubts)


def _joined(known: MustTypes, flow: Flow, condition: ast.expr, context: Context) -> Joiner | DeferrableCondition | None:
    """Return the change of the condition, or None. ``not (a and b)`` is rewritten by De Morgan's laws."""
    if isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Not):
        if not forces(condition, flow):
            return None
        return deferred(known, context, condition, condition, True)
    joiner = Joiner(known, context)
    joiner.join(condition)
    return joiner if joiner.changes else None


rule = Rule(NAME, Safety.UNSAFE, "Python", CHECK_MARKERS, decide, __doc__)
