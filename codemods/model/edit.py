"""Byte-range edits of one file, grouped in transactions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, order=True, slots=True)
class Edit:
    """Replacement of bytes ``start:end`` of the original by ``text``. An insertion has ``start == end``."""

    start: int
    end: int
    text: bytes

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"not a byte range: {self.start}:{self.end}")


class Buffer:
    """Transactions against one original, which are applied together.

    Two edits conflict if their ranges share a byte, or if one is an insertion at the other's edge. In the latter case
    the order of the two texts would be ambiguous.
    """

    def __init__(self, original: bytes) -> None:
        self._original = original
        self._taken: list[Edit] = []

    def offer(self, edits: Sequence[Edit]) -> bool:
        """Accept all of ``edits`` and return True, or accept none and return False.

        Raises ValueError when ``edits`` conflict with each other or reach past the end of the original, which is a bug
        in the caller.
        """
        ordered = sorted(edits)
        if ordered and ordered[-1].end > len(self._original):
            raise ValueError(f"edit {ordered[-1]} reaches past the end ({len(self._original)} bytes)")
        for left, right in pairwise(ordered):
            if conflict(left, right):
                raise ValueError(f"a transaction conflicts with itself: {left} and {right}")
        if any(conflict(edit, taken) for edit in ordered for taken in self._taken):
            return False
        self._taken.extend(ordered)
        return True

    def result(self) -> bytes:
        """Return the original with every accepted edit applied."""
        return apply(self._original, self._taken)


def conflict(a: Edit, b: Edit) -> bool:
    """Return whether two edits share a byte, or one is an insertion at the other's edge."""
    if a.start == a.end or b.start == b.end:
        return a.start <= b.end and b.start <= a.end
    return a.start < b.end and b.start < a.end


def apply(original: bytes, edits: Iterable[Edit]) -> bytes:
    """Apply edits that do not conflict, and assert that the bytes between them are unchanged."""
    pieces: list[bytes] = []
    kept: list[bytes] = []
    at = 0
    ordered = sorted(edits)
    for edit in ordered:
        if edit.start < at:
            raise ValueError(f"edit {edit} overlaps the one before it")
        kept.append(original[at : edit.start])
        pieces += (kept[-1], edit.text)
        at = edit.end
    kept.append(original[at:])
    pieces.append(kept[-1])
    result = b"".join(pieces)
    _assert_untouched(result, kept, ordered)
    return result


def _assert_untouched(result: bytes, kept: Sequence[bytes], edits: Sequence[Edit]) -> None:
    at = 0
    for number, piece in enumerate(kept):
        if result[at : at + len(piece)] != piece:
            raise AssertionError(f"bytes outside the edits changed at {at}")
        at += len(piece) + (len(edits[number].text) if number < len(edits) else 0)
    if at != len(result):
        raise AssertionError("bytes were added outside the edits")
