"""Atomic replacement of changed files, only if a file is unchanged since it was read."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import tempfile
from pathlib import Path

from ..model.outcome import Changed, Refused
from . import repository, sigint
from .cache_folder import clear_dead, lives, owned
from .file_reader import contents

_LEAVING = re.compile(r"\..+\.(\d+)-\w+\.symfix")


def is_leaving(path: Path) -> bool:
    """Return whether a file is a temporary file of a run that writes. Remove it if that run was killed."""
    found = _LEAVING.fullmatch(path.name)
    if found is None or path.is_symlink() or not path.is_file():
        return False
    if not lives(int(found[1])):
        with contextlib.suppress(OSError):
            path.unlink()
    return True


def write(outcome: Changed, root: Path | None = None) -> Changed | Refused:
    """Replace the file by ``outcome.after``, or return a Refused with the reason why it is unchanged.

    A symlink is kept, and its target is written if it lies inside ``root`` (default: the git repository around the
    file, else the file's own folder). Mode and, where allowed, owner are kept.
    """
    path = outcome.source.path
    target = Path(os.path.realpath(path))
    inside = Path(os.path.realpath(root or _root(path)))
    if not target.is_relative_to(inside):
        return Refused(path, "outside-repository", f"leads to {target}, outside {inside}; name that file itself")
    try:
        found = target.stat()
        if not found.st_mode & 0o222:
            return Refused(path, "read-only", "is read-only; make it writable (chmod u+w) and run again")
        if contents(target) != outcome.source.content:
            return Refused(path, "changed-meanwhile", "was written by someone else during the run; run again")
        return _replace(outcome, target, found)
    except OSError as error:
        return Refused(path, "unwritable", f"can't be written: {error.strerror or error}")


def _root(path: Path) -> Path:
    folder = path.absolute().parent
    return repository.top(folder) or folder


def _replace(outcome: Changed, target: Path, found: os.stat_result) -> Changed | Refused:
    prefix = f".{target.name}."
    clear_dead(target.parent, prefix)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=owned(prefix), suffix=".symfix")
    temporary = Path(name)
    with sigint.temporary(temporary):
        return _filled(outcome, target, found, handle, temporary)


def _filled(outcome: Changed, target: Path, found: os.stat_result, handle: int, temporary: Path) -> Changed | Refused:
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(outcome.after)
            os.fchmod(stream.fileno(), stat.S_IMODE(found.st_mode))
            with contextlib.suppress(PermissionError):
                os.fchown(stream.fileno(), found.st_uid, found.st_gid)
            stream.flush()
            os.fsync(stream.fileno())
        now = target.stat()
        if (now.st_mtime_ns, now.st_size, now.st_ino) != (found.st_mtime_ns, found.st_size, found.st_ino):
            return Refused(
                outcome.source.path, "changed-meanwhile", "was written by someone else during the run; run again"
            )
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(target.parent)
    return outcome


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
