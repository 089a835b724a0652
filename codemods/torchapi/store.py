"""Results that are dear to make, kept under the user's cache folder by what they were made from."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path


def cache_folder() -> Path:
    """symfix's folder under the user's cache folder; it may not exist yet."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("symfix"))


def stored(kind: str, key: str, make: Callable[[], bytes]) -> bytes:
    """The bytes stored as ``kind``/``key``, else those of ``make``, which are stored for the next time.

    Of several processes that ask at once, one makes them. A cache folder that can't be written costs time, not the
    result.
    """
    path = cache_folder() / kind / key
    try:
        return path.read_bytes()
    except OSError:
        pass
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError:
        return make()
    if not os.access(path.parent, os.W_OK):
        return make()
    from filelock import FileLock

    with FileLock(path.with_name(path.name + ".lock")):
        if path.exists():
            return path.read_bytes()
        content = make()
        with contextlib.suppress(OSError):
            _write(path, content)
        return content


def _write(path: Path, content: bytes) -> None:
    import tempfile

    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink()
        raise
