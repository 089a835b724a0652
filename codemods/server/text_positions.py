"""Positions in a text as an editor counts them, and the edits from one text to another."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from difflib import SequenceMatcher

from lsprotocol.types import Position, PositionEncodingKind, Range, TextEdit

_LINE_END = re.compile(rb"\r\n|\r|\n")
_UNITS = {
    PositionEncodingKind.Utf8: ("utf-8", 1),
    PositionEncodingKind.Utf16: ("utf-16-le", 2),
    PositionEncodingKind.Utf32: ("utf-32-le", 4),
}
"""Codec of each encoding, with the bytes of its unit."""


class TextPositions:
    """Positions of the byte offsets of a text, in the units of an encoding."""

    def __init__(self, content: bytes, encoding: str) -> None:
        self._content = content
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(content))]
        self._codec, self._bytes = _UNITS[PositionEncodingKind(encoding)]

    def position(self, offset: int) -> Position:
        """Return the position of a byte offset."""
        line = bisect_right(self._starts, offset) - 1
        text = self._content[self._starts[line] : offset].decode("utf-8", "replace")
        return Position(line, len(text.encode(self._codec)) // self._bytes)

    def range(self, start: int, end: int) -> Range:
        """Return the range between two byte offsets."""
        return Range(self.position(start), self.position(end))

    def rest_of_line(self, start: int, end: int) -> Range:
        """Return the range between two byte offsets within one line. An empty one is extended to the line's end."""
        found = _LINE_END.search(self._content, start)
        last = found.start() if found else len(self._content)
        return self.range(start, min(end, last) if end > start else last)

    def edits(self, after: bytes) -> Iterator[TextEdit]:
        """Yield the edits of lines that turn the text into ``after``."""
        old, new = self._content.splitlines(keepends=True), after.splitlines(keepends=True)
        starts = [0]
        for line in old:
            starts.append(starts[-1] + len(line))
        for kind, low, high, first, last in SequenceMatcher(None, old, new).get_opcodes():
            if kind != "equal":
                text = b"".join(new[first:last]).decode("utf-8")
                yield TextEdit(self.range(starts[low], starts[high]), text)
