"""Text opened before, closed after and put between expressions, brought together as edits that do not touch."""

from __future__ import annotations

from collections.abc import Iterable

from ..codemods.engine.edits import Edit

_CLOSE, _SEPARATE, _OPEN, _REPLACE = range(4)


class Pieces:
    """The edits of one fix while an expression is walked from the inside out."""

    def __init__(self) -> None:
        self._pieces: list[tuple[int, int, int, int, bytes]] = []

    def open(self, at: int, text: str) -> None:
        """Put ``text`` before what starts at ``at``: outside of what was opened there earlier."""
        self._pieces.append((at, _OPEN, -len(self._pieces), at, text.encode()))

    def close(self, at: int, text: str) -> None:
        """Put ``text`` after what ends at ``at``: outside of what was closed there earlier."""
        self._pieces.append((at, _CLOSE, len(self._pieces), at, text.encode()))

    def separate(self, at: int, text: str) -> None:
        """Put ``text`` after everything that is closed at ``at``."""
        self._pieces.append((at, _SEPARATE, len(self._pieces), at, text.encode()))

    def replace(self, start: int, end: int, text: str | bytes) -> None:
        new = text.encode() if isinstance(text, str) else text
        self._pieces.append((start, _REPLACE, len(self._pieces), end, new))

    def drop(self, start: int, end: int) -> None:
        """Delete what closes an expression."""
        self._pieces.append((start, _CLOSE, len(self._pieces), end, b""))

    def take(self, edits: Iterable[Edit]) -> None:
        """Take edits made elsewhere: insertions separate, the others replace."""
        for edit in edits:
            rank = _SEPARATE if edit.start == edit.end else _REPLACE
            self._pieces.append((edit.start, rank, len(self._pieces), edit.end, edit.text))

    def __bool__(self) -> bool:
        return bool(self._pieces)

    def edits(self) -> tuple[Edit, ...]:
        """What was collected, in order; pieces that touch are one edit."""
        merged: list[Edit] = []
        for start, _, _, end, text in sorted(self._pieces):
            if merged and merged[-1].end == start:
                last = merged.pop()
                merged.append(Edit(last.start, end, last.text + text))
            else:
                merged.append(Edit(start, end, text))
        return tuple(merged)
