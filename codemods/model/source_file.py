"""Source file as a value: its path and its bytes."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, count
from operator import add
from pathlib import Path


@dataclass(frozen=True)
class SourceFile:
    """Path and the bytes read from it. All offsets are byte offsets into ``content``."""

    path: Path
    content: bytes
    package_speaks: bool = False
    """True if any file of the package contains one of the language's package words."""
    project: bytes = b""
    """Facts that the language reads from all files of the project, or empty outside of a project."""
    named: bool = False
    """True if the caller named the file itself, not a folder above it."""

    @cached_property
    def _line_starts(self) -> list[int]:
        *lines, _ = self.content.split(b"\n")
        # The total length of the lines before plus their number, summed up without a Python loop.
        return list(map(add, accumulate(map(len, lines), initial=0), count()))

    def line_start(self, line: int) -> int:
        """Return the byte offset at which a line, counted from 1, begins.

        After the last line, return the length of the text.
        """
        return self._line_starts[line - 1] if line <= len(self._line_starts) else len(self.content)

    def line_column(self, offset: int) -> tuple[int, int]:
        """Return the line and the column of a byte offset. Both are counted from 1, the column in bytes."""
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1
