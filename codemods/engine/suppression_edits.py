"""Ignore comments: one for the findings of a line, written only if the code stays the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..model.edit import Buffer, Edit
from ..model.rule import Fix, Language
from ..model.source_file import SourceFile
from .suppression import Suppressions

WHY_LEFT = "no comment fits: above or at the end of the line it would change the code or another such comment"


@dataclass(frozen=True)
class Ignored:
    """Text with comments, ``after``. The findings in ``left`` have no comment, for the reason WHY_LEFT."""

    after: bytes
    noted: tuple[Fix, ...]
    left: tuple[Fix, ...]


def refusal(reason: str) -> str | None:
    """Return why a text cannot be the reason in a comment, or None."""
    if not reason.strip():
        return "say why"
    if not reason.isprintable() or reason.rstrip().endswith("\\"):
        return "one line, without control characters or a backslash at its end"
    return None


def ignore(source: SourceFile, fixes: Sequence[Fix], language: Language, reason: str) -> Ignored:
    """Add a comment with ``reason`` for each line at which fixes start.

    The comment is on its own line above, the usual form of suppressions, or else at the line's end. If both would
    change the code, the findings of the line get no comment.
    """
    page = _Page(source, language, reason)
    lines: dict[int, list[Fix]] = {}
    for fix in fixes:
        lines.setdefault(source.line_column(fix.start)[0], []).append(fix)
    page.settle([_Note(line, _names(found)) for line, found in sorted(lines.items())])
    accepted = {note.line for note in page.accepted}
    noted = tuple(fix for line, found in lines.items() if line in accepted for fix in found)
    return Ignored(page.text(page.accepted), noted, tuple(fix for fix in fixes if fix not in noted))


@dataclass(frozen=True)
class _Note:
    """Comment about a line of the original, counted from 1."""

    line: int
    rules: tuple[str, ...]
    above: bool = True


class _Page:
    def __init__(self, source: SourceFile, language: Language, reason: str) -> None:
        self._source = source
        self._language = language
        self._reason = reason.strip()
        self._lines = source.content.split(b"\n")
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)
        self._before = Suppressions.of(source).reasons
        self.accepted: list[_Note] = []

    def settle(self, notes: Sequence[_Note]) -> None:
        """Accept the notes that fit: all at once if possible, else by halves."""
        if not notes:
            return
        if self._fits([*self.accepted, *notes]):
            self.accepted += notes
        elif len(notes) == 1:
            beside = _Note(notes[0].line, notes[0].rules, above=False)
            if self._fits([*self.accepted, beside]):
                self.accepted.append(beside)
        else:
            middle = len(notes) // 2
            self.settle(notes[:middle])
            self.settle(notes[middle:])

    def text(self, notes: Iterable[_Note]) -> bytes:
        """Return the original with these comments."""
        buffer = Buffer(self._source.content)
        for note in notes:
            if not buffer.offer([self._edit(note)]):
                raise ValueError(f"two comments for line {note.line}")
        return buffer.result()

    def _edit(self, note: _Note) -> Edit:
        line = self._lines[note.line - 1]
        bare = line.rstrip(b"\r")
        comment = f"{self._language.comment} symfix: ignore[{','.join(note.rules)}] {self._reason}".encode()
        start = self._starts[note.line - 1]
        if not note.above:
            return Edit(start + len(bare), start + len(bare), b"  " + comment)
        indent = bare[: len(bare) - len(bare.lstrip(b" \t"))]
        # The last line of a file may have no end to copy.
        end = b"\r\n" if line.endswith(b"\r") or b"\r\n" in self._source.content else b"\n"
        return Edit(start, start, indent + comment + end)

    def _fits(self, notes: Sequence[_Note]) -> bool:
        # A file declares its encoding and its interpreter in the first two lines only.
        if any(note.above and note.line <= 2 for note in notes):
            return False
        after = self.text(notes)
        if Suppressions.of(SourceFile(self._source.path, after)).reasons != self._expected(notes):
            return False
        return self._language.same_code(self._source.content, after)

    def _expected(self, notes: Sequence[_Note]) -> dict[tuple[int, str], str]:
        above = sorted(note.line for note in notes if note.above)

        def now(line: int) -> int:
            return line + sum(1 for other in above if other <= line)

        expected = {(now(line), rule): reason for (line, rule), reason in self._before.items()}
        return expected | {(now(note.line), rule): self._reason for note in notes for rule in note.rules}


def _names(fixes: Iterable[Fix]) -> tuple[str, ...]:
    return tuple(sorted({fix.rule for fix in fixes}))
