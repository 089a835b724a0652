"""Finding on a terminal: its line with a caret, and the result of the fix."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import Literal, NamedTuple

from rich.cells import cell_len

from ..model.edit import Edit, apply
from ..model.rule import Fix, Safety, Skip
from ..model.source_file import SourceFile

Kind = Literal["old", "new", "caret", "note"]
MOST_ROWS = 24
"""Maximum number of rows shown for a change. `diff` shows all of them."""


class FrameRow(NamedTuple):
    """Row of a frame. Its kind determines the colour."""

    kind: Kind
    text: str


def frame(source: SourceFile, answer: Fix | Skip) -> Iterator[FrameRow]:
    """Yield the rows below a finding's heading.

    A skip, or a manual fix, which is never applied, has only its line with a caret.
    """
    if isinstance(answer, Skip) or answer.safety is Safety.MANUAL:
        end = answer.end if isinstance(answer, Skip) else max(answer.edits).end
        line, _ = source.line_column(answer.start)
        width = len(str(line))
        yield FrameRow("note", f"  {line} | {_shown(_line(source, line))}")
        yield FrameRow("caret", f"  {'':<{width}} | {_caret(source, answer.start, end)}")
        return
    rows = list(_change(source, answer))
    yield from rows[:MOST_ROWS]
    if len(rows) > MOST_ROWS:
        yield FrameRow("note", f"  … {len(rows) - MOST_ROWS} more lines: symfix diff shows them")


def _change(source: SourceFile, fix: Fix) -> Iterator[FrameRow]:
    groups = _groups(source, fix)
    width = len(str(groups[-1][1]))
    for first, last, edits in groups:
        start = source.line_start(first)
        old = source.content[start : source.line_start(last + 1)]
        new = apply(old, [Edit(edit.start - start, edit.end - start, edit.text) for edit in edits])
        head, gone, come = _apart(_lines(old), _lines(new))
        pointed = source.line_column(edits[0].start)[0]
        caret = FrameRow("caret", f"  {'':<{width}} | {_caret(source, edits[0].start, edits[0].end)}")
        if not first + head <= pointed < first + head + len(gone):
            yield FrameRow("note", f"  {pointed:>{width}} | {_shown(_line(source, pointed))}")
            yield caret
        for number, text in enumerate(gone, first + head):
            yield FrameRow("old", f"  {number:>{width}} - {_shown(text)}")
            if number == pointed:
                yield caret
        for number, text in enumerate(come, first + head):
            yield FrameRow("new", f"  {number:>{width}} + {_shown(text)}")


def _groups(source: SourceFile, fix: Fix) -> list[tuple[int, int, list[Edit]]]:
    """Group the edits by the lines that they touch together: the first line, the last line, the edits."""
    groups: list[tuple[int, int, list[Edit]]] = []
    for edit in sorted(fix.edits):
        first, last = source.line_column(edit.start)[0], source.line_column(edit.end)[0]
        if groups and first <= groups[-1][1]:
            before, least, edits = groups.pop()
            groups.append((before, max(least, last), [*edits, edit]))
        else:
            groups.append((first, last, [edit]))
    return groups


def _apart(old: list[bytes], new: list[bytes]) -> tuple[int, list[bytes], list[bytes]]:
    """Return the number of common lines at the start, and the lines of each that differ."""
    head = _shared(old, new)
    tail = _shared(old[head:][::-1], new[head:][::-1])
    return head, old[head : len(old) - tail], new[head : len(new) - tail]


def _shared(one: list[bytes], other: list[bytes]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _line(source: SourceFile, line: int) -> bytes:
    return source.content[source.line_start(line) : source.line_start(line + 1)]


def _lines(text: bytes) -> list[bytes]:
    return text.removesuffix(b"\n").split(b"\n") if text else []


def _caret(source: SourceFile, start: int, end: int) -> str:
    """Return blanks up to a position and carets below it, up to the end of its line."""
    line, column = source.line_column(start)
    text = _line(source, line).rstrip(b"\r\n")
    before, below = text[: column - 1], text[column - 1 : column - 1 + end - start]
    blanks = "".join("\t" if one == "\t" else " " * cell_len(one) for one in _shown(before))
    return blanks + "^" * max(cell_len(_shown(below).expandtabs()), 1)


def _shown(line: bytes) -> str:
    """Return a line with its control characters replaced, since a terminal would interpret them."""
    text = line.decode("utf-8", "replace").rstrip("\r\n")
    return "".join(one if one == "\t" or one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in text)
