"""A changed file as blocks of lines for display."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..series.hunks import Hunk, lines_of
from .colour import changed_words, coloured, html

CONTEXT = 3


@dataclass(frozen=True)
class DiffRow:
    """One line: `` ``, ``-`` or ``+``, its numbers before and after, and its HTML."""

    kind: str
    old: int | None
    new: int | None
    html: str


@dataclass(frozen=True)
class DiffPiece:
    """Lines of one hunk (its number in the file), or unchanged lines (None)."""

    hunk: int | None
    rows: tuple[DiffRow, ...]


@dataclass(frozen=True)
class DiffBlock:
    """Nearby hunks with their context, starting at ``line``. ``skipped`` lines precede it after the last block."""

    line: int
    skipped: int
    pieces: tuple[DiffPiece, ...]


def blocks_of(path: str, before: bytes, after: bytes, hunks: Sequence[Hunk]) -> tuple[DiffBlock, ...]:
    """Return the blocks of a file for ``hunks`` (in order), which turn ``before`` into ``after``."""
    old, new = lines_of(before), lines_of(after)
    # Lines after the last change are not shown, and colouring is slow.
    needed = max((hunk.end + CONTEXT for hunk in hunks), default=0)
    grown = sum(max(len(hunk.new) - len(hunk.old), 0) for hunk in hunks)
    sides = [
        coloured(path, "".join(lines[:last]).encode("utf-8", "replace").decode())
        for lines, last in ((old, needed), (new, needed + grown))
    ]
    shift = 0
    groups: list[list[tuple[int, Hunk, int]]] = []
    for number, hunk in enumerate(hunks):
        if groups and hunk.line - groups[-1][-1][1].end <= 2 * CONTEXT:
            groups[-1].append((number, hunk, shift))
        else:
            groups.append([(number, hunk, shift)])
        shift += len(hunk.new) - len(hunk.old)
    blocks = []
    shown = 1
    for group in groups:
        first = max(group[0][1].line - CONTEXT, shown)
        last = min(group[-1][1].end + CONTEXT, len(old) + 1)
        pieces = []
        at = first
        for number, hunk, moved in group:
            pieces.append(_same(sides[0], at, hunk.line, moved))
            pieces.append(DiffPiece(number, _changed(sides, hunk, moved)))
            at = hunk.end
        moved = group[-1][2] + len(group[-1][1].new) - len(group[-1][1].old)
        pieces.append(_same(sides[0], at, last, moved))
        blocks.append(DiffBlock(first, first - shown, tuple(piece for piece in pieces if piece.rows)))
        shown = last
    return tuple(blocks)


def _same(lines: Sequence[Sequence[tuple[str, str]]], start: int, end: int, shift: int) -> DiffPiece:
    return DiffPiece(None, tuple(DiffRow(" ", line, line + shift, html(lines[line - 1])) for line in range(start, end)))


def _changed(sides: Sequence[Sequence[Sequence[tuple[str, str]]]], hunk: Hunk, shift: int) -> tuple[DiffRow, ...]:
    old_marks, new_marks = changed_words(
        [line.rstrip("\n") for line in hunk.old], [line.rstrip("\n") for line in hunk.new]
    )
    rows = []
    for number, marks in enumerate(old_marks):
        line = hunk.line + number
        rows.append(DiffRow("-", line, None, html(sides[0][line - 1], marks)))
    for number, marks in enumerate(new_marks):
        line = hunk.line + shift + number
        rows.append(DiffRow("+", None, line, html(sides[1][line - 1], marks)))
    return tuple(rows)
