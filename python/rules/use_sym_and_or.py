"""Join what a check tests symbolically: ``_check(a == 1 and b == 2)`` → ``_check(sym_and(a == 1, b == 2))``.

What: ``and``, ``or``, chained comparisons, ``in`` and ``all(...)``/``any(...)`` in what a ``torch._check`` tests,
when an operand before the last compares sizes. Concrete operands at the front stay where they are: ``ndim == 4 and
sym_and(...)``.

Why: ``and`` calls ``bool()`` on every operand but the last, which decides a size before the check can defer it.

Leaves alone: an operand that is safe to evaluate only after the one before it (an index, a division), and conditions
whose only comparison of sizes stands last, which are right as they are.

Safety: safe where every operand surely is a bool and can be evaluated in any case: names, constants, sums and products
of sizes, what a tensor of enough dimensions says of itself. Else unsafe, and the fix says which values it does not hold
for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.engine.rule import Context, Fix, Rule, Safety, Skip
from ...codemods.engine.source import SourceFile
from ..analysis.flow import Flow, flow
from ..analysis.surely import Surely, surely
from ..analysis.territory import obstacle
from ..analysis.truths import check_conditions, forces
from ..analysis.unfit import Unfit
from ..rewrite.deferring import Deferral, deferred
from ..rewrite.findings import CHECK_MARKERS, change, skip
from ..rewrite.joining import Joiner
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
    except Unfit as unfit:
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


def _joined(known: Surely, flow: Flow, condition: ast.expr, context: Context) -> Joiner | Deferral | None:
    """What becomes of the condition, or None; ``not (a and b)`` is written anew by De Morgan's laws."""
    if isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Not):
        if not forces(condition, flow):
            return None
        return deferred(known, context, condition, condition, True)
    joiner = Joiner(known, context)
    joiner.join(condition)
    return joiner if joiner.changes else None


rule = Rule(NAME, Safety.UNSAFE, "Python", CHECK_MARKERS, decide, __doc__)
