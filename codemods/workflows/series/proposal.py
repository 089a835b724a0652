"""What may become part of a pull request, wherever it came from: rules over paths, or proven repairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ...engine.outcome import Changed
from ...engine.rule import Fix, Skip
from ...engine.source import SourceFile

Role = str
"""``fix``, ``test`` or ``xfail``: what a file's change is for."""


@dataclass(frozen=True)
class Reason:
    """Why bytes change: one fix, said of the text before. ``spans`` are the byte ranges that it replaces there."""

    rule: str
    mode: int
    safety: str
    message: str
    function: str | None
    default: str | None
    start: int
    line: int
    spans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Left:
    """A place nearby that was left, and why."""

    rule: str
    mode: int
    reason: str
    detail: str
    function: str | None
    line: int


@dataclass(frozen=True)
class FileChange:
    """One file (its path from the top of the repository, with slashes) before and after; None before: it is new."""

    path: str
    before: bytes | None = field(repr=False)
    after: bytes = field(repr=False)
    reasons: tuple[Reason, ...] = ()
    left: tuple[Left, ...] = ()
    role: Role = "fix"


@dataclass(frozen=True)
class Proposal:
    """Changes that are taken or left together, the operators that they mend and the issues that they fix.

    ``opinfos`` are torch's operator tests to verify them by; none: those that reach the change. ``bystanders`` are
    others that reach it, run on torch's own samples alone.
    """

    name: str
    files: tuple[FileChange, ...]
    operators: tuple[str, ...] = ()
    opinfos: tuple[str, ...] = ()
    bystanders: tuple[str, ...] = ()
    issues: tuple[int, ...] = ()

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules behind it, each once, sorted."""
        return tuple(sorted({reason.rule for file in self.files for reason in file.reasons}))

    @property
    def fixed(self) -> tuple[str, ...]:
        """The paths of the files that are mended, without tests and lists of expected failures."""
        return tuple(file.path for file in self.files if file.role == "fix")


def of_outcomes(changed: Sequence[tuple[str, Changed]]) -> Iterator[Proposal]:
    """A proposal for each file that rules changed; each comes with its path from the top of the repository."""
    for path, outcome in changed:
        source = outcome.source
        reasons = tuple(_reason(fix, source) for fix in outcome.applied)
        left = tuple(_left(skip, source) for skip in outcome.skips)
        yield Proposal(path, (FileChange(path, source.content, outcome.after, reasons, left),))


def _reason(fix: Fix, source: SourceFile) -> Reason:
    spans = tuple((edit.start, edit.end) for edit in sorted(fix.edits))
    line = source.line_column(fix.start)[0]
    return Reason(fix.rule, fix.mode, fix.safety.value, fix.message, fix.function, fix.default, fix.start, line, spans)


def _left(skip: Skip, source: SourceFile) -> Left:
    line = source.line_column(skip.start)[0]
    return Left(skip.rule, skip.mode, skip.reason, skip.detail, skip.function, line)
