"""Reject bad sizes by a check that can be deferred: ``if n != m: raise ...`` → ``torch._check(n == m, lambda: ...)``.

What: an ``if`` on sizes whose body only raises, and an ``assert`` on sizes. RuntimeError → ``_check``, ValueError →
``_check_value``, IndexError → ``_check_index``, TypeError → ``_check_type``, NotImplementedError →
``_check_not_implemented``, AssertionError → ``_check_with``, and ``assert`` → ``_check``. The condition is negated by
De Morgan's laws, with ``sym_and``, ``sym_or`` and ``sym_eq`` inside. Leading concrete conditions stay in front.

If the statement has a message, the form of the check depends on the function's tracer. FakeTensor and ``make_fx``
accept a lambda around the message: meta functions, decompositions, references and registered fakes get one. The dynamo
of torch 2.13 rejects it: ``torch.compile`` if the lambda captures values (``f"{x.shape[0]} rows"``), strict export
always. Everywhere else the statement stays for eager::

    if torch.compiler.is_compiling():
        torch._check_value(n == m)
    elif n != m:
        raise ValueError(f"{n} and {m}")

A check without the message would be shorter, but a person who passes a wrong shape reads the message in eager. Public
code keeps its values there too, behind ``not torch.compiler.is_compiling()``. If the installed torch accepts the
message, the check has it. If TorchScript may compile the function, the condition begins with ``not
torch.jit.is_scripting() and``. TorchScript then compiles the same code as before.

Why: a check of undecided sizes becomes a runtime assertion. An ``if`` requires the value at once.

Leaves alone: other exceptions, ``raise ... from``, several arguments, and ``elif``. Conditions that may be no bool or
that specialize a size themselves (``int(n)``). Messages that a lambda would change (``locals()``, ``super()``). Code
that runs in eager only (under ``not torch.compiler.is_compiling()``). Code that TorchScript compiles now and could not
compile afterwards.

Safety: safe next to the unchanged statement, and where the exception and its text stay the same for all values. That
requires comparisons of proven sizes and other plain values, and a message that is proven to be a str. Else unsafe, and
the fix gives the reason. An exception without a message gets one. ``assert`` and an AssertionError without a message
become RuntimeError. A value that is assumed to be a size may be something else.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...codemods.model.rule import Context, Fix, Rule, Safety, Skip
from ...codemods.model.source_file import SourceFile
from ..analysis.decisions.branch_kind import SizeRefusal, refusals
from ..analysis.flow.fix_eligibility import obstacle
from ..analysis.flow.flow import flow
from ..analysis.types.cannot_rewrite import CannotRewrite
from ..rewrite.findings import SIZE_MARKERS, skip
from ..rewrite.raised_checks import check_for
from ..syntax.module import Module, parse

NAME = "use_torch_check"


def decide(source: SourceFile, context: Context) -> Iterator[Fix | Skip]:
    module = parse(source)
    for refusal in refusals(flow(module)):
        yield _answer(module, refusal, context)


def _answer(module: Module, refusal: SizeRefusal, context: Context) -> Fix | Skip:
    try:
        stop = obstacle(refusal.place, context, scriptable=True)
        if stop:
            raise CannotRewrite(*stop)
        if refusal.of_other_types:
            raise CannotRewrite("not-a-bool", "a branch on isinstance has taken what is an int or SymInt")
        return check_for(NAME, refusal.place, refusal.node, context)
    except CannotRewrite as why:
        return skip(NAME, module.place(refusal.node.test), why.reason, why.detail)


rule = Rule(NAME, Safety.UNSAFE, "Python", SIZE_MARKERS, decide, __doc__)
