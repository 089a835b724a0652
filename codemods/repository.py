"""What belongs together on disk: the repository around a file, and whether git could bring a file back."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path


class GitMissing(Exception):
    """There is a repository, but no git to ask about it."""


@lru_cache(maxsize=4096)
def top(folder: Path) -> Path | None:
    """The folder that holds ``.git``, at or above ``folder`` (absolute); None outside a repository."""
    return next((parent for parent in (folder, *folder.parents) if (parent / ".git").exists()), None)


def dirty(paths: Sequence[Path]) -> list[str]:
    """The files among or below ``paths`` that git could not bring back as they are, as git names them."""
    by_top: dict[Path, list[Path]] = {}
    for path in paths:
        absolute = path.absolute()
        root = top(absolute if absolute.is_dir() else absolute.parent)
        if root is not None:
            by_top.setdefault(root, []).append(absolute)
    return [name for root, inside in by_top.items() for name in _status(root, inside)]


def _status(root: Path, paths: Sequence[Path]) -> list[str]:
    # A repository may name programs that git starts when it looks around.
    quiet = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]
    command = ["git", "-C", str(root), *quiet, "status", "--porcelain", "-z", "--no-renames", "--", *map(str, paths)]
    try:
        output = subprocess.run(command, capture_output=True, check=True).stdout
    except FileNotFoundError:
        raise GitMissing(f"{root} is a git repository, but there is no git to ask whether it is clean") from None
    except subprocess.CalledProcessError as error:
        message = error.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise GitMissing(f"git can't tell whether {root} is clean: {' '.join(message)}") from None
    return [entry[3:].decode(errors="surrogateescape") for entry in output.split(b"\0") if entry]
