"""Reading of regular files only, because a pipe blocks forever and a device has no end."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

MOST_BYTES = 256 * 1024**2


class NotAFile(OSError):
    """Pipe, device or socket, or a file larger than any source."""


def contents(path: Path) -> bytes:
    """Return the bytes of a file. Raises NotAFile or another OSError."""
    _require_file(path, os.stat(path))  # noqa: PTH116
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        _require_file(path, os.fstat(handle))
        return file.read()


def _require_file(path: Path, found: os.stat_result) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(found.st_mode):
        raise NotAFile(errno.EINVAL, "is a pipe or a device, no file", str(path))
    if found.st_size > MOST_BYTES:
        raise NotAFile(errno.EFBIG, f"is larger than {MOST_BYTES // 1024**2} MiB", str(path))
