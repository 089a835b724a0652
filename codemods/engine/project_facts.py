"""Project around a file, and the facts that a wing reads from all of its sources at once."""

from __future__ import annotations

import hashlib
import os
from functools import lru_cache
from pathlib import Path

from ..system import cache_folder
from ..system.repository import top
from .file_discovery import NOT_WALKED
from .registry import WingCard, load_language

KEPT = 24
BUILD_FILES = ("setup.py", "pyproject.toml")
MOST_ENTRIES = 60_000
"""Limit on the entries of a project. A larger one is not searched, because listing it would take too long."""


def project_facts(path: Path, wing: WingCard) -> bytes:
    """Return the facts that the wing reads from the project of ``path`` (absolute), cached by the files' stats.

    They are empty outside of a project, and in a folder that is not searched for sources (build output, installed
    code). They are also empty if the project contains one of the wing's tables, which has the same facts.
    """
    if not wing.project_suffixes:
        return b""
    root = _root(path.parent)
    if root is None or any(_passed_over(name) for name in path.parent.relative_to(root).parts):
        return b""
    return _said_by(root, wing)


def project_digest(path: Path, wing: WingCard) -> str:
    """Return a digest of the project's facts."""
    return _digest(project_facts(path, wing))


def forget_projects() -> None:
    """Forget all projects that were read, for a process that outlives changes of files."""
    _root.cache_clear()
    _said_by.cache_clear()


@lru_cache(maxsize=64)
def _digest(said: bytes) -> str:
    return cache_folder.digest(said).decode()


@lru_cache(maxsize=4096)
def _root(folder: Path) -> Path | None:
    """Return the repository around a folder, or else the topmost folder around it with a build file."""
    around = top(folder)
    if around is not None:
        return around
    built = [parent for parent in (folder, *folder.parents) if any((parent / name).is_file() for name in BUILD_FILES)]
    return built[-1] if built else None


@lru_cache(maxsize=64)
def _said_by(root: Path, wing: WingCard) -> bytes:
    if any((root / table).is_file() for table in wing.project_tables):
        return b""
    found = _sources(root, wing.project_suffixes)
    if not found:
        return b""
    rows = [(str(path.relative_to(root)), stat.st_mtime_ns, stat.st_size) for path, stat in found]
    digest = hashlib.blake2b(repr((str(root), wing.package, rows)).encode(), digest_size=16)
    digest.update(wing.identity.encode())
    kept = cache_folder.folder("projects") / digest.hexdigest()
    said = cache_folder.load(kept)
    if said is None:
        read = load_language(wing.package).project
        said = b"" if read is None else read(root, [path for path, _ in found])
        cache_folder.store(kept, said)
        for older in sorted(kept.parent.glob("[!.]*"), key=cache_folder.age)[:-KEPT]:
            older.unlink(missing_ok=True)
    return said


def _sources(root: Path, suffixes: tuple[str, ...]) -> list[tuple[Path, os.stat_result]]:
    """Return the source files of a project with their stats, in path order.

    Return none if the project has more than MOST_ENTRIES entries.
    """
    found: list[tuple[Path, os.stat_result]] = []
    entries = 0
    waiting = [str(root)]
    while waiting:
        try:
            listed = list(os.scandir(waiting.pop()))
        except OSError:
            continue
        entries += len(listed)
        if entries > MOST_ENTRIES:
            return []
        for entry in listed:
            if entry.is_dir(follow_symlinks=False):
                if not _passed_over(entry.name):
                    waiting.append(entry.path)
            elif entry.name.endswith(suffixes) and entry.is_file(follow_symlinks=False):
                found.append((Path(entry.path), entry.stat(follow_symlinks=False)))
    return sorted(found, key=lambda one: one[0])


def _passed_over(name: str) -> bool:
    return name.startswith(".") or name in NOT_WALKED
