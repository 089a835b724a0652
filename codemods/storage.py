"""Where symfix keeps what can be computed again, and how it puts it there."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from functools import lru_cache
from pathlib import Path

_NEW = ".new-"


def folder(kind: str) -> Path:
    """The folder of one kind of stored results under the user's cache folder."""
    from platformdirs import user_cache_path

    return user_cache_path("symfix") / kind


def store(path: Path, content: bytes) -> None:
    """Write atomically; a cache that can't be written is no reason to fail, the next run computes again."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _clear_once(path.parent)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=owned(_NEW))
    except OSError:
        return
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)


def owned(prefix: str) -> str:
    """A prefix for a temporary file that says whose it is, so that `clear_dead` knows when nobody's."""
    return f"{prefix}{os.getpid()}-"


def clear_dead(folder: Path, prefix: str) -> None:
    """Remove the files in ``folder`` that were `owned` with ``prefix`` by a process that is no more."""
    for entry in list(os.scandir(folder)):
        owner = re.match(r"(\d+)-", entry.name.removeprefix(prefix)) if entry.name.startswith(prefix) else None
        if owner and not _lives(int(owner[1])):
            with contextlib.suppress(OSError):
                Path(entry.path).unlink()


@lru_cache
def _clear_once(folder: Path) -> None:
    clear_dead(folder, _NEW)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
