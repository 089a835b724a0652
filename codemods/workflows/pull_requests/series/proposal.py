"""Candidates for a pull request: changes by rules over paths, or proven repairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ....model.outcome import Changed
from ....model.rule import Fix, Skip
from ....model.source_file import SourceFile

Role = str
"""Purpose of a file's change: ``fix``, ``test`` or ``xfail``."""


@dataclass(frozen=True)
class Reason:
    """One fix as the reason of a change, in positions of the text before. ``spans`` are its replaced byte ranges."""

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
class UnchangedPlace:
    """Nearby place that was not changed, with the reason."""

    rule: str
    mode: int
    reason: str
    detail: str
    function: str | None
    line: int


@dataclass(frozen=True)
class FileChange:
    """One file before and after. ``before`` is None for a new file.

    ``path`` is relative to the top of the repository, with slashes.
    """

    path: str
    before: bytes | None = field(repr=False)
    after: bytes = field(repr=False)
    reasons: tuple[Reason, ...] = ()
    left: tuple[UnchangedPlace, ...] = ()
    role: Role = "fix"


@dataclass(frozen=True)
class Proposal:
    """Changes that are accepted or rejected together, with the operators and issues that they fix.

    ``opinfos`` are the OpInfo tests for verification. Without any, tests that reach the change are used.
    ``bystanders`` are other operators that reach it. They run only on torch's own samples.
    """

    name: str
    files: tuple[FileChange, ...]
    operators: tuple[str, ...] = ()
    opinfos: tuple[str, ...] = ()
    bystanders: tuple[str, ...] = ()
    issues: tuple[int, ...] = ()

    @property
    def rules(self) -> tuple[str, ...]:
        """Return the sorted names of the rules of all files."""
        return tuple(sorted({reason.rule for file in self.files for reason in file.reasons}))

    @property
    def fixed(self) -> tuple[str, ...]:
        """Return the paths of the fixed files, without tests and lists of expected failures."""
        return tuple(file.path for file in self.files if file.role == "fix")


def of_outcomes(changed: Sequence[tuple[str, Changed]]) -> Iterator[Proposal]:
    """Yield a proposal for each file that rules changed. Its path is relative to the top of the repository."""
    for path, outcome in changed:
        source = outcome.source
        reasons = tuple(_reason(fix, source) for fix in outcome.applied)
        left = tuple(_left(skip, source) for skip in outcome.skips)
        yield Proposal(path, (FileChange(path, source.content, outcome.after, reasons, left),))


def _reason(fix: Fix, source: SourceFile) -> Reason:
    spans = tuple((edit.start, edit.end) for edit in sorted(fix.edits))
    line = source.line_column(fix.start)[0]
    return Reason(fix.rule, fix.mode, fix.safety.value, fix.message, fix.function, fix.default, fix.start, line, spans)


def _left(skip: Skip, source: SourceFile) -> UnchangedPlace:
    line = source.line_column(skip.start)[0]
    return UnchangedPlace(skip.rule, skip.mode, skip.reason, skip.detail, skip.function, line)
