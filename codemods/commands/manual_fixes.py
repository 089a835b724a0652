"""Manual fixes, which are displayed but never applied, tested in a copy on the calls that the user names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..model.edit import apply
from ..model.outcome import Changed, Outcome, Unchanged
from ..model.rule import Fix as Answer
from ..model.rule import Safety
from ..verify.change import Change, Verdict, Verification
from .arguments import FixArguments
from .verify import SuccessiveVerifier, scripts


def tried(outcomes: Sequence[Outcome], asked: FixArguments) -> Iterator[str]:
    """Yield a line for each manual fix of an operator that occurs in a call: whether the call works with the fix.

    Each fix is tested separately on the unchanged code, and torch.library.opcheck checks the call.
    """
    for outcome in outcomes:
        if not isinstance(outcome, (Changed, Unchanged)):
            continue
        for answer in outcome.offered:
            calls = [call for call in asked.calls if _is_called(answer, call)]
            if answer.safety is Safety.MANUAL and calls:
                alone = replace(asked, calls=(), tests=(), repro=tuple(scripts(calls, symbols=False)))
                before = outcome.source.content
                change = Change(outcome.source.path, before, apply(before, answer.edits))
                yield f"{answer.rule}: {answer.function}: {_said(SuccessiveVerifier(alone)([change]))}"


def _is_called(answer: Answer, call: str) -> bool:
    return answer.function is not None and f"ops.{answer.function.replace('::', '.')}" in call


def _said(found: Verification) -> str:
    if found.verdict is Verdict.PROVEN:
        return "with the text that is shown, which is not written, the call passes opcheck; without it, it fails"
    if found.checks and all(check.before.passed for check in found.checks):
        return "the call passes opcheck without the text that is shown"
    failed = next((check.after.message for check in found.checks if not check.after.passed), "")
    return f"the text that is shown does not do for the call: {failed or found.reason}"
