"""Check for truncated or half-merged text by its brackets only, fifty times faster than by its tree."""

from __future__ import annotations

import re

_NO_CODE = re.compile(
    rb"//(?:[^\n\\]|\\\r?\n|\\.)*"
    rb"|/\*.*?\*/"
    rb'|"(?<=R")([^()\\\s]{0,16})\(.*?\)\1"'
    rb'|"(?:[^"\\\n]|\\.)*"'
    rb"|'(?<=[0-9a-fA-F]')(?<!u8')(?=[0-9a-fA-F])"  # between the digits of a number
    rb"|'(?:[^'\\\n]|\\.)+'"
    rb"|0(?<=#if 0)\b.*?(?=\n[ \t]*#[ \t]*e(?:l|ndif))"
    rb"|#[ \t]*(?:define|error|warning|pragma|include)\b(?:[^\n\\/]|\\\r?\n|\\.|/(?!\*)|/\*.*?\*/)*",
    re.DOTALL,
)
"""Comments, literals and directives. Each alternative begins with a literal byte, so that the search skips ahead to
it."""
_UNENDED = (b'"', b"'", b"/*")
_CONFLICT = (b"\n<<<<<<< ", b"\n>>>>>>> ")
_CONDITIONAL = re.compile(rb"#[ \t]*(if|el|endif)")
_NO_BRACKETS = bytes(set(range(256)) - set(b"()[]{}"))


def is_whole(content: bytes) -> bool:
    """Return whether every bracket, string, comment and conditional is closed, and there are no merge markers.

    Only the first branch of a conditional counts. Macros count as calls, as code that compiles writes them.
    """
    if any(mark in content for mark in _CONFLICT) or content.startswith(_CONFLICT[0][1:]):
        return False
    text = _NO_CODE.sub(b" ", content)
    if any(mark in text for mark in _UNENDED):
        return False
    chosen = _first_branches(text) if b"#" in text else text
    if chosen is None:
        return False
    brackets, before = chosen.translate(None, _NO_BRACKETS), -1
    while len(brackets) != before:
        before = len(brackets)
        brackets = brackets.replace(b"()", b"").replace(b"[]", b"").replace(b"{}", b"")
    return not brackets


def _first_branches(text: bytes) -> bytes | None:
    """Return the text without the later branches of its conditionals, or None if these do not match."""
    kept: list[bytes] = []
    depth = hidden = at = 0
    for match in _CONDITIONAL.finditer(text):
        if not hidden:
            kept.append(text[at : match.start()])
        at = match.end()
        if match[1] == b"if":
            depth += 1
        elif not depth:
            return None
        elif match[1] == b"el":
            hidden = hidden or depth
        else:
            hidden = 0 if hidden == depth else hidden
            depth -= 1
    return None if depth else b"".join((*kept, text[at:]))
