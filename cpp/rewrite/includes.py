"""Headers that fixes need, each included once."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix
from ...codemods.model.source_file import SourceFile

_COMMENT = re.compile(rb"/\*.*?\*/|//[^\n]*", re.DOTALL)
_DIRECTIVE = re.compile(
    rb'^[ \t]*#[ \t]*(?:(if\w*|endif)\b|include[ \t]*[<"]([^>"\n]+)[>"])[^\n]*\n?'
    rb"|\{%[-+]?[ \t]*(?:(?P<open>if|for|macro|call|block)|(?P<close>end\w+))\b",
    re.MULTILINE,
)


def includes(source: SourceFile, fixes: Sequence[Fix], context: Context) -> list[Edit]:
    """Insert each header that the fixes need, once, into the block of includes with the nearest paths."""
    directives = _directives(source.content)
    present = {path for _, _, path in directives}
    needed = sorted({header for fix in fixes for header in fix.needs} - present)
    at = {header: _place(directives, header) for header in needed}
    end = b"\r\n" if b"\r\n" in source.content else b"\n"
    return [
        Edit(place, place, b"".join(b"#include <%s>" % h.encode() + end for h in needed if at[h] == place))
        for place in sorted(set(at.values()))
    ]


def _directives(content: bytes) -> list[tuple[int, int, str]]:
    """Return start, end and path of each include outside of comments and conditionals."""
    found: list[tuple[int, int, str]] = []
    depth = 0
    for match in _DIRECTIVE.finditer(_COMMENT.sub(lambda comment: re.sub(rb"[^\r\n]", b" ", comment[0]), content)):
        if match[1] is not None:
            depth += -1 if match[1] == b"endif" else match[1].startswith(b"if")
        elif match["open"] or match["close"]:
            depth += 1 if match["open"] else -1
        elif depth == 0:
            found.append((match.start(), match.end(), match[2].decode()))
    return found


def _place(blocks: list[tuple[int, int, str]], header: str) -> int:
    if not blocks:
        return 0
    folder = header.split("/")[:-1]

    def nearness(path: str) -> int:
        shared = 0
        for ours, theirs in zip(folder, path.split("/"), strict=False):
            if ours != theirs:
                break
            shared += 1
        return shared

    nearest = max(nearness(path) for _, _, path in blocks)
    block = [one for one in blocks if nearness(one[2]) == nearest]
    later = [start for start, _, path in block if path > header]
    return later[0] if later else block[-1][1]
