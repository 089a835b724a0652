"""clang-format on the lines that a fix made too long, and on nothing else."""

from __future__ import annotations

import difflib
import re
import subprocess
from pathlib import Path

_LIMIT = re.compile(r"^ColumnLimit:\s*(\d+)", re.MULTILINE)
_SECONDS = 60


def wrap_long_lines(path: Path, before: bytes, after: bytes) -> bytes:
    """Reformat changed lines past the column limit, in the style of the ``.clang-format`` that governs ``path``.

    A line that fits, or was as long before, keeps the layout its author gave it; so does everything in a folder without
    a style of its own.
    The result is ``after`` itself where no line needs it or where no clang-format is installed.
    """
    style = _style_of(path)
    if style is None:
        return after
    limit = _LIMIT.search(style.read_text(encoding="utf-8", errors="replace"))
    long = _lines_grown_past(int(limit[1]) if limit else 80, before.splitlines(), after.splitlines())
    binary = _clang_format() if long else None
    if binary is None:
        return after
    lines = [f"--lines={number + 1}:{number + 1}" for number in long]
    done = subprocess.run(
        [binary, f"--style=file:{style}", f"--assume-filename={path.name}", *lines],
        input=after,
        capture_output=True,
        timeout=_SECONDS,
        check=False,
    )
    return _only_at(long, after, done.stdout) if done.returncode == 0 and done.stdout else after


def _only_at(lines: list[int], text: bytes, formatted: bytes) -> bytes:
    """Take from ``formatted`` what became of the given lines, at the indentation that their author chose."""
    old, new = text.splitlines(keepends=True), formatted.splitlines(keepends=True)
    result: list[bytes] = []
    for tag, start, end, new_start, new_end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal" or not any(start <= line < end for line in lines):
            result += old[start:end]
            continue
        shift = _indentation(old[start]) - _indentation(new[new_start]) if new_start < new_end else 0
        result += [
            b" " * shift + line if shift > 0 else line[min(-shift, _indentation(line)) :]
            for line in new[new_start:new_end]
        ]
    return b"".join(result)


def _indentation(line: bytes) -> int:
    return len(line) - len(line.lstrip(b" "))


def _lines_grown_past(limit: int, old: list[bytes], new: list[bytes]) -> list[int]:
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    matcher = difflib.SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False)
    grown: list[int] = []
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        if tag == "equal":
            continue
        paired = end - start == new_end - new_start
        for number in range(new_start, new_end):
            was = old[head + start + number - new_start] if paired else b""
            if len(new[head + number].decode()) > limit >= len(was.decode()):
                grown.append(head + number)
    return grown


def _style_of(path: Path) -> Path | None:
    for folder in path.absolute().parents:
        style = folder / ".clang-format"
        if style.is_file():
            return style
    return None


def _clang_format() -> str | None:
    try:
        import clang_format
    except ImportError:
        return None
    binary = Path(clang_format.__file__).parent / "data" / "bin" / "clang-format"
    return str(binary) if binary.is_file() else None
