"""Comparison of C++ texts without comments."""

from __future__ import annotations

import re

_SPLICE = re.compile(rb"\\[ \t]*\r?\n")
_PIECE = re.compile(
    rb'(?P<raw>\b(?:u8|[uUL])?R"(?P<mark>[^()\\\s"]{0,16})\(.*?\)(?P=mark)")'
    rb'|(?P<string>"(?:[^"\\\n]|\\.)*")'
    rb"|(?P<number>\b\.?\d(?:'?\w|[eEpP][+-]|\.)*)"
    rb"|(?P<character>'(?:[^'\\\n]|\\.)*')"
    rb"|(?P<comment>//[^\n]*|/\*.*?\*/)",
    re.DOTALL,
)


def same_code(before: bytes, after: bytes) -> bool:
    """Return whether two texts differ only in comments, blank lines and trailing whitespace.

    Line ends count, since a directive ends with its line. Lines that a backslash joins are one line.
    """
    return _lines(before) == _lines(after)


def _lines(content: bytes) -> list[bytes]:
    text = _PIECE.sub(_without_comment, _SPLICE.sub(b" \x00", content))
    return [bare for line in text.splitlines() if (bare := line.strip())]


def _without_comment(match: re.Match[bytes]) -> bytes:
    # Keep the line ends of a multi-line comment: it may be inside a directive.
    return re.sub(rb"[^\n]", b"", match[0]) or b" " if match["comment"] is not None else match[0]
