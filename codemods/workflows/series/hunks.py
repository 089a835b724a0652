"""Changed lines: what a plan holds of a file, and what is put back into whatever the file has become."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Hunk:
    """The lines ``old``, the first of which is number ``line`` (from 1) before, become ``new``.

    Lines keep their ends. An insertion has no ``old`` and stands before ``line``. ``why`` numbers the reasons.
    """

    line: int
    old: tuple[str, ...]
    new: tuple[str, ...]
    why: tuple[int, ...] = ()

    @property
    def end(self) -> int:
        """The number of the line after the last old one."""
        return self.line + len(self.old)


class Mismatch(Exception):
    """The text is not the one that the hunks are about; ``str()`` says where."""


def lines_of(text: bytes) -> list[str]:
    """The lines with their ends. A lone CR ends no line, as in git; bytes that are not UTF-8 survive."""
    lines = text.decode("utf-8", "surrogateescape").split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def hunks_between(before: bytes, after: bytes, spans: Sequence[Iterable[tuple[int, int]]] = ()) -> tuple[Hunk, ...]:
    """What differs, without context. ``spans`` are the byte ranges of ``before`` that each reason is about."""
    old, new = lines_of(before), lines_of(after)
    starts = line_starts(before)
    found = []
    # Lines that come again and again (blank ones, braces) make the matcher take time squared unless it passes them by.
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
    """The byte at which each line starts, and the end of the text."""
    starts = [0]
    for line in lines_of(text):
        starts.append(starts[-1] + len(line.encode("utf-8", "surrogateescape")))
    return starts


def moved_lines(before: bytes, now: bytes) -> dict[int, int]:
    """Where each line that is still there has gone; lines are counted from 1."""
    matcher = difflib.SequenceMatcher(None, lines_of(before), lines_of(now), autojunk=False)
    return {old + step + 1: new + step + 1 for old, new, size in matcher.get_matching_blocks() for step in range(size)}


def put(before: bytes, hunks: Iterable[Hunk]) -> bytes:
    """The text with the hunks applied, each where it says; raises Mismatch when their old lines are not there."""
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
    """The first hunk of ``one`` that can't stand beside ``other``: they share a line, or meet at an insertion.

    The same change twice is no clash.
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
    """For each hunk the number of its group: hunks that share a reason stand or fall together."""
    group = list(range(len(hunks)))
    by_reason: dict[int, int] = {}
    for number, hunk in enumerate(hunks):
        for reason in hunk.why:
            first = by_reason.setdefault(reason, number)
            keep, lose = sorted((group[first], group[number]))
            group = [keep if one == lose else one for one in group]
    return tuple(group)
