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

    A line that fits keeps the layout its author gave it; so does everything in a folder without a style of its own.
    The result is ``after`` itself where no line needs it or where no clang-format is installed.
    """
    style = _style_of(path)
    if style is None:
        return after
    limit = _LIMIT.search(style.read_text(encoding="utf-8", errors="replace"))
    long = [
        n for n in _changed_lines(before, after) if len(after.splitlines()[n].decode()) > int(limit[1] if limit else 80)
    ]
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
    return done.stdout if done.returncode == 0 and done.stdout else after


def _changed_lines(before: bytes, after: bytes) -> list[int]:
    old, new = before.splitlines(), after.splitlines()
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    matcher = difflib.SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False)
    return [
        head + number
        for tag, _, _, start, end in matcher.get_opcodes()
        if tag != "equal"
        for number in range(start, end)
    ]


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
