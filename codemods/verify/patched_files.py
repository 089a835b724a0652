"""Files of a patch before and after, applied in a copy."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .change import Change

_RENAMED = re.compile(rb"^rename from ([^\"\n]+)$", re.MULTILINE)


class BadPatch(Exception):
    """Error for a text that is not a patch, or does not apply. ``str()`` is one line."""


@dataclass(frozen=True)
class PatchedFiles:
    """Changes of a patch, and the names of its other files: new, deleted, renamed, or of no language of symfix."""

    changes: tuple[Change, ...]
    others: tuple[str, ...]


def patched_files(patch: bytes, top: Path, scratch: Path, reads: Callable[[Path], bool]) -> PatchedFiles:
    """Apply a patch to copies of the files below ``top``. Nothing outside of ``scratch`` is written.

    ``reads`` returns whether a file is of a language of symfix. Raises BadPatch.
    """
    names = _names(patch, scratch)
    read = [name for name in names if reads(Path(name))]
    renamed = [os.fsdecode(name) for name in _RENAMED.findall(patch)]
    here = [name for name in dict.fromkeys((*read, *renamed)) if _inside(top, name).is_file()]
    for name in here:
        copy = scratch / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(_inside(top, name).read_bytes())
    if read:
        _git(patch, scratch, *(f"--include={_literal(name)}" for name in read))
    changes = (Change(top / name, (top / name).read_bytes(), _after(scratch / name)) for name in here if name in read)
    found = tuple(change for change in changes if change.after and change.after != change.before)
    judged = {str(change.path.relative_to(top)) for change in found}
    return PatchedFiles(found, tuple(name for name in names if name not in judged))


def _names(patch: bytes, scratch: Path) -> list[str]:
    rows = _git(patch, scratch, "--numstat", "-z").split(b"\0")
    return [os.fsdecode(row.split(b"\t", 2)[2]) for row in rows if row.count(b"\t") > 1]


def _inside(top: Path, name: str) -> Path:
    path = top / name
    if not path.resolve().is_relative_to(top.resolve()):
        raise BadPatch(f"{name} is outside of {top}")
    return path


def _after(copy: Path) -> bytes:
    return copy.read_bytes() if copy.is_file() else b""


def _literal(name: str) -> str:
    return "".join(f"[{one}]" if one in "*?[" else one for one in name)


def _git(patch: bytes, folder: Path, *words: str) -> bytes:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "apply", "--whitespace=nowarn", *words, "-"]
    ceiling = {**environment, "GIT_CEILING_DIRECTORIES": str(folder.parent), "LC_ALL": "C"}
    try:
        ran = subprocess.run(command, cwd=folder, env=ceiling, input=patch, capture_output=True, check=False)
    except FileNotFoundError:
        raise BadPatch("no git to apply it; install it") from None
    if ran.returncode:
        said = ran.stderr.decode(errors="replace").strip().splitlines() or ["git apply failed"]
        raise BadPatch(said[0].removeprefix("error: "))
    return ran.stdout
