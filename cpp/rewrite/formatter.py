"""clang-format for only the lines that a fix made too long."""

from __future__ import annotations

import difflib
import re
import subprocess
from pathlib import Path

from ...codemods.model.line_length import lines_grown_past

_LIMIT = re.compile(r"^ColumnLimit:\s*(\d+)", re.MULTILINE)
_SECONDS = 60


def wrap_long_lines(path: Path, before: bytes, after: bytes) -> bytes:
    """Reformat changed lines past the column limit, in the style of the ``.clang-format`` that governs ``path``.

    A line that fits, or was as long before, keeps its layout, as does every file in a folder without a style. Return
    ``after`` itself if no line is too long or clang-format is not installed.
    """
    style = _style_of(path)
    long = _long_lines(style, before, after)
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


def missing_formatter(path: Path, before: bytes, after: bytes) -> str:
    """Return ``clang-format`` if it would wrap a line and is not installed, else an empty text."""
    return "clang-format" if _long_lines(_style_of(path), before, after) and _clang_format() is None else ""


def _long_lines(style: Path | None, before: bytes, after: bytes) -> list[int]:
    if style is None:
        return []
    limit = _LIMIT.search(style.read_text(encoding="utf-8", errors="replace"))
    return lines_grown_past(int(limit[1]) if limit else 80, before, after)


def _only_at(lines: list[int], text: bytes, formatted: bytes) -> bytes:
    """Return ``text`` with only the given lines replaced from ``formatted``, at their original indentation."""
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
