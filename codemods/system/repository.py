"""Git repository around a file, and the files that git could not restore."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

_UNKNOWN = "??"


class GitMissing(Exception):
    """Repository without a git program that can inspect it."""


class GitFailed(Exception):
    """Error of a git command, as one line."""


@lru_cache(maxsize=4096)
def top(folder: Path) -> Path | None:
    """Return the folder that contains ``.git``, at or above ``folder`` (absolute). Return None outside a repository."""
    if os.path.exists(os.path.join(folder, ".git")):  # noqa: PTH110, PTH118
        return folder
    return top(folder.parent) if folder != folder.parent else None


def outside(paths: Sequence[Path]) -> list[Path]:
    """Return the paths outside of any repository, which git could not restore."""
    absolute = [(path, path.absolute()) for path in paths]
    return [path for path, full in absolute if top(full if full.is_dir() else full.parent) is None]


def dirty(paths: Sequence[Path], passing: Callable[[Path], bool] = lambda path: False) -> list[str]:
    """Return the files among or below ``paths`` whose current state git could not restore, as git names them.

    An untracked file is omitted if ``passing`` is true for it.
    """
    by_top: dict[Path, list[Path]] = {}
    for path in paths:
        absolute = path.absolute()
        root = top(absolute if absolute.is_dir() else absolute.parent)
        if root is not None:
            by_top.setdefault(root, []).append(absolute)
    return [
        name
        for root, inside in by_top.items()
        for state, name in _status(root, inside)
        if not (state == _UNKNOWN and passing(root / name))
    ]


def changed(base: str, path: Path, kinds: str = "d") -> list[tuple[Path, str]]:
    """Return the files at or below ``path`` that differ from a revision: the repository, and their name in it.

    ``kinds`` is git's ``--diff-filter``: by default all but deleted files. Raises GitFailed.
    """
    absolute = path.absolute()
    root = top(absolute if absolute.is_dir() else absolute.parent)
    if root is None:
        raise GitFailed(f"{path} is in no git repository")
    words = ["diff", "--name-only", "--no-renames", f"--diff-filter={kinds}", "-z", "--end-of-options", base]
    return [(root, os.fsdecode(name)) for name in git(root, *words, "--", str(absolute)).split(b"\0") if name]


def git(root: Path, *words: str) -> bytes:
    """Return what a git command prints. Raises GitFailed."""
    try:
        return subprocess.run(["git", "-C", str(root), *words], capture_output=True, check=True).stdout
    except FileNotFoundError:
        raise GitFailed("no git to ask what changed; install it") from None
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode(errors="replace").strip().splitlines()
        raise GitFailed(f"git {words[0]}: {said[0] if said else 'failed'}") from None


def _status(root: Path, paths: Sequence[Path]) -> list[tuple[str, str]]:
    # A repository may configure programs that ``git status`` runs.
    quiet = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]
    asked = ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=all"]
    command = ["git", "-C", str(root), *quiet, *asked, "--", *map(str, paths)]
    try:
        output = subprocess.run(command, capture_output=True, check=True).stdout
    except FileNotFoundError:
        raise GitMissing(f"{root} is a git repository, but there is no git to ask whether it is clean") from None
    except subprocess.CalledProcessError as error:
        message = error.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise GitMissing(f"git can't tell whether {root} is clean: {' '.join(message)}") from None
    entries = [os.fsdecode(entry) for entry in output.split(b"\0") if entry]
    return [(entry[:2], entry[3:]) for entry in entries]
