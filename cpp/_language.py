"""C++ as the engine sees it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..codemods.edits import Edit
from ..codemods.rule import Context, Fix, Language
from ..codemods.source import SourceFile
from ._format import wrap_long_lines
from ._tree import Tree, count_errors

_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"][^\n]*\n?', re.MULTILINE)


def includes(source: SourceFile, fixes: Sequence[Fix], context: Context) -> list[Edit]:
    """Bring each header the fixes need, once, into the block of includes whose paths are nearest to it."""
    present = {match[1].decode() for match in _INCLUDE.finditer(source.content)}
    needed = sorted({header for fix in fixes for header in fix.needs} - present)
    at = {header: _place(source.content, header) for header in needed}
    return [
        Edit(place, place, b"".join(b"#include <%s>\n" % h.encode() for h in needed if at[h] == place))
        for place in sorted(set(at.values()))
    ]


def _place(content: bytes, header: str) -> int:
    blocks: list[tuple[int, int, str]] = [(m.start(), m.end(), m[1].decode()) for m in _INCLUDE.finditer(content)]
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


def _errors(content: bytes) -> int:
    return count_errors(Tree(content).root)


def _polish(source: SourceFile, after: bytes, context: Context) -> bytes:
    return wrap_long_lines(source.path, source.content, after)


language = Language(
    name="cpp",
    suffixes=(".cpp", ".cc", ".cxx", ".h", ".hpp", ".cuh", ".cu"),
    complete=includes,
    errors=_errors,
    polish=_polish,
    settings=(".clang-format",),
)
