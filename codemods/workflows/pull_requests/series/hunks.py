"""Changed lines: the hunks that a plan stores, and their application to the current text of a file."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Hunk:
    """Replacement of the lines ``old``, which start at line ``line`` (from 1) of the text before, by ``new``.

    Lines keep their ends. An insertion has no ``old`` and is placed before ``line``. ``why`` are indices of reasons.
    """

    line: int
    old: tuple[str, ...]
    new: tuple[str, ...]
    why: tuple[int, ...] = ()

    @property
    def end(self) -> int:
        """Return the number of the line after the last old one."""
        return self.line + len(self.old)


class Mismatch(Exception):
    """Error of applying hunks to a different text. ``str()`` gives the line."""


def lines_of(text: bytes) -> list[str]:
    """Split into lines with their ends. A lone CR ends no line, as in git. Bytes that are not UTF-8 are preserved."""
    lines = text.decode("utf-8", "surrogateescape").split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def hunks_between(before: bytes, after: bytes, spans: Sequence[Iterable[tuple[int, int]]] = ()) -> tuple[Hunk, ...]:
    """Return the differences without context. ``spans`` are the byte ranges of ``before`` for each reason."""
    old, new = lines_of(before), lines_of(after)
    starts = line_starts(before)
    found = []
    # The matcher takes quadratic time on frequent lines (blank ones, braces) unless it ignores them as junk.
    for tag, one, two, three, four in difflib.SequenceMatcher(None, old, new).get_opcodes():
        if tag != "equal":
            first, last = starts[one], starts[two]
            why = tuple(
                number
                for number, ranges in enumerate(spans)
                if any(start <= max(last - 1, first) and end >= first for start, end in ranges)
            )
            found.append(Hunk(one + 1, tuple(old[one:two]), tuple(new[three:four]), why))
    return tuple(found)


def line_starts(text: bytes) -> list[int]:
    """Return the byte offset of each line's start, and of the end of the text."""
    starts = [0]
    for line in lines_of(text):
        starts.append(starts[-1] + len(line.encode("utf-8", "surrogateescape")))
    return starts


def moved_lines(before: bytes, now: bytes) -> dict[int, int]:
    """Map the number of each unchanged line to its number in ``now``. Lines are counted from 1."""
    matcher = difflib.SequenceMatcher(None, lines_of(before), lines_of(now), autojunk=False)
    return {old + step + 1: new + step + 1 for old, new, size in matcher.get_matching_blocks() for step in range(size)}


def put(before: bytes, hunks: Iterable[Hunk]) -> bytes:
    """Apply the hunks at their lines. Raises Mismatch if the old lines differ."""
    lines = lines_of(before)
    pieces: list[str] = []
    at = 0
    for hunk in sorted(set(hunks)):
        if hunk.line - 1 < at or tuple(lines[hunk.line - 1 : hunk.end - 1]) != hunk.old:
            raise Mismatch(f"line {hunk.line} is not what was planned for")
        pieces += [*lines[at : hunk.line - 1], *hunk.new]
        at = hunk.end - 1
    return "".join([*pieces, *lines[at:]]).encode("utf-8", "surrogateescape")


def clash(one: Iterable[Hunk], other: Iterable[Hunk]) -> Hunk | None:
    """Return the first hunk of ``one`` that conflicts with ``other``, or None.

    Hunks conflict when they share a line or meet at an insertion. Identical hunks do not conflict.
    """
    theirs = [(hunk.line, hunk.old, hunk.new, hunk.end) for hunk in other]
    for hunk in one:
        for line, old, new, end in theirs:
            same = (hunk.line, hunk.old, hunk.new) == (line, old, new)
            apart = hunk.end <= line or end <= hunk.line
            meet = (hunk.end == line or end == hunk.line) and not (hunk.old and old)
            if not same and (not apart or meet):
                return hunk
    return None


def groups(hunks: Sequence[Hunk]) -> tuple[int, ...]:
    """Return the group number of each hunk. Hunks that share a reason are in the same group."""
    group = list(range(len(hunks)))
    by_reason: dict[int, int] = {}
    for number, hunk in enumerate(hunks):
        for reason in hunk.why:
            first = by_reason.setdefault(reason, number)
            keep, lose = sorted((group[first], group[number]))
            group = [keep if one == lose else one for one in group]
    return tuple(group)
