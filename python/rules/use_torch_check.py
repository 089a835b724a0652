"""Refuse bad sizes by a check that can wait: ``if n != m: raise ...`` → ``torch._check(n == m, lambda: ...)``.

What: an ``if`` on sizes whose body only raises, and an ``assert`` on sizes. RuntimeError → ``_check``, ValueError →
``_check_value``, IndexError → ``_check_index``, TypeError → ``_check_type``, NotImplementedError →
``_check_not_implemented``, AssertionError → ``_check_with``, and ``assert`` → ``_check``. The condition is negated by
De Morgan's laws, with ``sym_and``, ``sym_or`` and ``sym_eq`` inside; concrete conditions in front stay in front.

Why: a check of undecided sizes becomes an assertion at run time; an ``if`` must know now.

Leaves alone: other exceptions, ``raise ... from``, several arguments, ``elif``, conditions that may be no bool or that
decide a size by themselves (``int(n)``), messages that a lambda would change (``locals()``, ``super()``), and what
TorchScript compiles (it has no lambdas).

Safety: safe when the exception and its text stay the same whatever the values are: comparisons of what surely are sizes
and other plain values, and a message that surely is a str. Else unsafe, and the fix says why: an exception without a
message gets one; ``assert`` and an AssertionError without a message become RuntimeError; a value that is taken for a
size may be something else.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...codemods.engine.rule import Context, Fix, Rule, Safety, Skip
from ...codemods.engine.source import SourceFile
from ..analysis.flow import flow
from ..analysis.purpose import Refusal, refusals
from ..analysis.territory import ground
from ..analysis.unfit import Unfit
from ..rewrite.findings import SIZE_MARKERS, skip
from ..rewrite.refusals import check_for
from ..syntax.module import Module, parse

NAME = "use_torch_check"


def decide(source: SourceFile, context: Context) -> Iterator[Fix | Skip]:
    module = parse(source)
    for refusal in refusals(flow(module)):
        yield _answer(module, refusal, context)


def _answer(module: Module, refusal: Refusal, context: Context) -> Fix | Skip:
    try:
        here = ground(refusal.place, context, asked=False)
        if here.obstacle:
            raise Unfit(*here.obstacle)
        if refusal.of_other_types:
            raise Unfit("not-a-bool", "a branch on isinstance has taken what is an int or SymInt")
        return check_for(NAME, refusal.place, refusal.node, context, here.doubts)
    except Unfit as unfit:
        return skip(NAME, module.place(refusal.node.test), unfit.reason, unfit.detail)


rule = Rule(NAME, Safety.UNSAFE, "Python", SIZE_MARKERS, decide, __doc__)
