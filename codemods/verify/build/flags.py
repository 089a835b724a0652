"""Compiler flags of one file in its tree, from ``compile_commands.json``."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

NAME = "compile_commands.json"
_FOLDERS = ("", "build")
_PLACES = ("-I", "-isystem", "-iquote", "-idirafter", "-include")
_DRAFTS = {"0x": 11, "1y": 14, "1z": 17, "2a": 20, "2b": 23, "2c": 26}
# These depend on the build of torch itself, because they change the exports of its libraries.
_TORCHS_OWN = re.compile(r"-[DU](?:HAVE_AVX\w*_CPU_DEFINITION|_GLIBCXX_USE_CXX11_ABI|AT_PER_OPERATOR_HEADERS)\b")


@dataclass(frozen=True)
class Flags:
    """Flags that a tree adds for one file: a standard (``-std=…``, "" for none), macros, and include paths."""

    standard: str
    macros: tuple[str, ...]
    includes: tuple[str, ...]
    database: Path


def flags_for(file: Path, torch_root: Path | None = None) -> Flags | None:
    """Return the flags of ``file`` from the database of the tree, or from the nearest above the file, or None.

    A database is in a folder, or in its subfolder ``build``. An unreadable one is ignored.
    """
    path = file.resolve()
    for database in _databases(path, torch_root):
        entry = _entries(database, database.stat().st_mtime_ns).get(path)
        if entry is not None:
            return _flags(entry, database)
    return None


def newer_standard(first: str, second: str) -> str:
    """Return the later of two ``-std=…`` flags, since torch's headers need theirs and a file may need more."""
    return max((flag for flag in (first, second) if flag), key=_year, default="")


def _year(flag: str) -> int:
    name = flag.rpartition("++")[2]
    return _DRAFTS.get(name, int(name) if name.isdigit() else 0) % 98


def _databases(path: Path, torch_root: Path | None) -> Iterator[Path]:
    roots = [torch_root.resolve()] if torch_root is not None else []
    for folder in (*roots, *path.parents):
        for name in _FOLDERS:
            database = folder / name / NAME
            if database.is_file():
                yield database


@lru_cache(maxsize=8)
def _entries(database: Path, _written: int) -> dict[Path, dict[str, Any]]:
    try:
        entries = json.loads(database.read_bytes())
        return {Path(os.path.realpath(Path(entry["directory"], entry["file"]))): entry for entry in entries}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _flags(entry: dict[str, Any], database: Path) -> Flags:
    words: Sequence[str] = entry.get("arguments") or shlex.split(entry.get("command", ""))
    folder = Path(entry["directory"])
    standard, macros, includes = "", [], []
    rest = iter(words[1:])
    for word in rest:
        if word.startswith("-std="):
            standard = word
        elif word in ("-D", "-U"):
            macros.append(word + next(rest, ""))
        elif word.startswith(("-D", "-U")):
            macros.append(word)
        else:
            for flag in _PLACES:
                if word.startswith(flag):
                    place = folder / (word[len(flag) :].strip() or next(rest, ""))
                    if place.exists():
                        includes += [flag, str(place)]
                    break
    kept = tuple(macro for macro in macros if not _TORCHS_OWN.match(macro))
    return Flags(standard, kept, tuple(includes), database)
