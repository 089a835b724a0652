"""ruff format for only the lines that a fix made too long."""

from __future__ import annotations

import importlib
import subprocess
from pathlib import Path
from typing import Any

from ...codemods.model.line_length import lines_grown_past
from ...codemods.system.toml import loads

CONFIGURATIONS = ("ruff.toml", ".ruff.toml", "pyproject.toml")
_WIDTH = 88
_SECONDS = 60


def wrap_long_lines(path: Path, before: bytes, after: bytes) -> bytes:
    """Format changed lines that are too long, if ruff is configured for ``path``, as in PyTorch's tree.

    A line that fits, or was as long before, keeps its layout. So does every file in a project without such a
    configuration, except an installed torch. Return ``after`` itself if no line is too long or ruff is not installed.
    """
    long = _long_lines(path, before, after)
    binary = _ruff() if long else None
    if binary is None:
        return after
    for number in reversed(long):
        after = _laid_out(binary, path, after, number + 1)
    return after


def missing_formatter(path: Path, before: bytes, after: bytes) -> str:
    """Return ``ruff`` if it would wrap a line and is not installed, else an empty text."""
    return "ruff" if _long_lines(path, before, after) and _ruff() is None else ""


def _long_lines(path: Path, before: bytes, after: bytes) -> list[int]:
    limit = _limit_for(path)
    return [] if limit is None else lines_grown_past(limit, before, after)


def _laid_out(binary: str, path: Path, text: bytes, line: int) -> bytes:
    command = [binary, "format", "--no-cache", f"--range={line}-{line + 1}", "--stdin-filename", str(path), "-"]
    done = subprocess.run(command, input=text, capture_output=True, timeout=_SECONDS, check=False)
    return done.stdout if done.returncode == 0 and done.stdout else text


def _limit_for(path: Path) -> int | None:
    """Return the line length of the nearest ruff configuration, or PyTorch's in its package, or None elsewhere."""
    for folder in path.absolute().parents:
        for name in CONFIGURATIONS:
            settings = _settings(folder / name)
            if settings is not None:
                length = settings.get("line-length", _WIDTH)
                return length if isinstance(length, int) else _WIDTH
    return _WIDTH if _of_torch(path) else None


def _of_torch(path: Path) -> bool:
    """Return whether a file belongs to an installed torch, which comes without PyTorch's configuration."""
    return any(folder.name == "torch" and (folder / "version.py").is_file() for folder in path.absolute().parents)


def _settings(file: Path) -> dict[str, Any] | None:
    if not file.is_file():
        return None
    try:
        value = loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if file.name != "pyproject.toml":
        return value
    tools = value.get("tool")
    found = tools.get("ruff") if isinstance(tools, dict) else None
    return found if isinstance(found, dict) else None


def _ruff() -> str | None:
    try:
        found: str = importlib.import_module("ruff.__main__").find_ruff_bin()
    except (ImportError, AttributeError, FileNotFoundError):
        return None
    return found
