"""What is printed arrives whatever the streams are, and a stream or place that takes nothing is said in one line."""

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
"""Errors of the machine and of paths that a person gave: none of them is a bug."""
_BYTES = range(0xDC80, 0xDD00)
_TOLD = 200


def prepare() -> None:
    """Let names of files that are not UTF-8 go out as the bytes they are; what the encoding lacks, escaped."""
    codecs.register_error("symfix", _encoded)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            # Closed by whoever started us.
            setattr(sys, name, open(os.devnull, "w"))  # noqa: PTH123, SIM115
        elif isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="symfix")


def give_up_stdout() -> None:
    """Throw away what is still to be written: the interpreter must not complain about it when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complaint(error: Exception) -> str:
    """An error of the surroundings in one line; empty for one that is a bug."""
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
