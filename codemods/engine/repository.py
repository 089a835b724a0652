"""What belongs together on disk: the repository around a file, and whether git could bring a file back."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

_UNKNOWN = "??"


class GitMissing(Exception):
    """There is a repository, but no git to ask about it."""


@lru_cache(maxsize=4096)
def top(folder: Path) -> Path | None:
    """The folder that holds ``.git``, at or above ``folder`` (absolute); None outside a repository."""
    if os.path.exists(os.path.join(folder, ".git")):  # noqa: PTH110, PTH118
        return folder
    return top(folder.parent) if folder != folder.parent else None


def outside(paths: Sequence[Path]) -> list[Path]:
    """Those of the paths that are in no repository, so that git could not bring them back."""
    absolute = [(path, path.absolute()) for path in paths]
    return [path for path, full in absolute if top(full if full.is_dir() else full.parent) is None]


def dirty(paths: Sequence[Path], passing: Callable[[Path], bool] = lambda path: False) -> list[str]:
    """The files among or below ``paths`` that git could not bring back as they are, as git names them.

    ``passing`` says of a file that git does not know whether it is nobody's work.
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


def _status(root: Path, paths: Sequence[Path]) -> list[tuple[str, str]]:
    # A repository may name programs that git starts when it looks around.
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
