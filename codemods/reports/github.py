"""Workflow commands by which GitHub displays findings at the lines of a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..model.outcome import Changed, Failed, Outcome, Refused
from ..model.rule import Fix, Skip


def workflow_commands(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield a warning for each fix, a notice for each skip, an error for each file that was refused or failed."""
    for outcome in outcomes:
        if isinstance(outcome, (Refused, Failed)):
            message = outcome.detail.strip().splitlines()[-1]
            yield f"::error file={_property(outcome.path.as_posix())},title=symfix::{_data(message)}\n"
            continue
        applied = outcome.applied if isinstance(outcome, Changed) else ()
        answers: list[Fix | Skip] = [*applied, *outcome.offered, *outcome.skips]
        for answer in sorted(answers, key=lambda answer: (answer.start, answer.rule)):
            line, column = outcome.source.line_column(answer.start)
            level, message = (
                ("notice", f"{answer.reason}: {answer.detail}")
                if isinstance(answer, Skip)
                else ("warning", f"{answer.message} ({answer.safety.value})")
            )
            place = f"file={_property(outcome.source.path.as_posix())},line={line},col={column}"
            yield f"::{level} {place},title=symfix {_property(answer.rule)}::{_data(message)}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
