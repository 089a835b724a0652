"""Output to streams of any encoding, and one-line messages for streams and paths that cannot be written."""

from __future__ import annotations

import codecs
import errno
import os
import sys
from io import TextIOWrapper

_SURROUNDINGS = frozenset(
    (
        errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ELOOP,
        errno.EMFILE, errno.ENFILE, errno.ENAMETOOLONG, errno.ENOTDIR, errno.ENOMEM,
    )
)  # fmt: skip
"""Errors of the machine or of paths given by the user, which are not bugs."""
_BYTES = range(0xDC80, 0xDD00)
_TOLD = 200


def prepare() -> None:
    """Make stdout and stderr write file names that are not UTF-8 as their bytes.

    Other characters that the encoding lacks are escaped. A closed stream is replaced by the null device.
    """
    codecs.register_error("symfix", _encoded)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            # The parent process closed it.
            setattr(sys, name, open(os.devnull, "w"))  # noqa: PTH123, SIM115
        elif isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="symfix")


def give_up_stdout() -> None:
    """Discard pending output, so that the interpreter does not complain when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complaint(error: Exception) -> str:
    """Return a one-line message for an error of the environment, or '' for a bug."""
    if isinstance(error, (RecursionError, MemoryError)):
        return "something that was read is nested deeper than symfix can follow"
    if not isinstance(error, OSError) or error.errno not in _SURROUNDINGS:
        return ""
    if error.filename is None:
        give_up_stdout()
        return f"the output can't be written: {error.strerror}"
    name = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else str(error.filename)
    return f"{name if len(name) <= _TOLD else name[:_TOLD] + '…'}: {error.strerror}"


def _encoded(error: UnicodeError) -> tuple[str | bytes, int]:
    assert isinstance(error, UnicodeEncodeError)
    text = error.object[error.start : error.end]
    if all(ord(character) in _BYTES for character in text):
        return bytes(ord(character) - 0xDC00 for character in text), error.end
    first = text[0]
    if ord(first) in _BYTES:
        return bytes([ord(first) - 0xDC00]), error.start + 1
    return first.encode("ascii", "backslashreplace"), error.start + 1
