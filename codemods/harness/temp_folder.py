"""Temporary folders that are removed with their owner. The next run removes those of a killed run."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import itertools
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from ..system.sigint import temporary

_counter = itertools.count()


@contextmanager
def scratch_folder(root: Path | None = None) -> Iterator[Path]:
    """Yield a private folder that is removed after the block. First remove folders whose owner is gone.

    Raises PermissionError if the parent folder is not the user's own.
    """
    parent = root or Path(tempfile.gettempdir()) / f"symfix-{os.geteuid()}"
    _require_own(parent)
    clear_leftovers(parent)
    path, lock = _claim(parent)
    folder = path.with_suffix("")
    try:
        with temporary(folder, mark=path):
            folder.mkdir(mode=0o700)
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():  # else a child that outlives its run still writes there, and the next run clears it
            path.unlink(missing_ok=True)
        lock.close()


def _require_own(parent: Path) -> None:
    """Raise PermissionError unless only the user can access the folder. Others can guess its name and create it."""
    with contextlib.suppress(FileExistsError):
        parent.mkdir(mode=0o700, parents=True)
    found = parent.lstat()
    if not stat.S_ISDIR(found.st_mode):
        why = "is no folder"
    elif found.st_uid != os.geteuid():
        why = "belongs to somebody else"
    elif found.st_mode & 0o077:
        why = "is open to others (chmod 700)"
    else:
        return
    raise PermissionError(errno.EACCES, f"{why}: remove it, or set TMPDIR to a folder of your own", str(parent))


def clear_leftovers(parent: Path) -> int:
    """Remove the folders under ``parent`` whose owner is gone, and return their number."""
    removed = 0
    for lock_path in parent.glob("*.lock"):
        with lock_path.open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            folder = parent / lock_path.stem
            shutil.rmtree(folder, ignore_errors=True)
            if not folder.exists():
                lock_path.unlink(missing_ok=True)
                removed += 1
    return removed


def new_name(stem: str) -> str:
    """Return a file name that is unique in this process."""
    return f"{stem}-{os.getpid()}-{next(_counter)}"


def _claim(parent: Path) -> tuple[Path, TextIO]:
    while True:
        handle, name = tempfile.mkstemp(prefix="run-", suffix=".lock", dir=parent)
        lock = os.fdopen(handle, "w")
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Between creation and lock another run may have unlinked it as a leftover.
        if Path(name).exists():
            return Path(name), lock
        lock.close()
