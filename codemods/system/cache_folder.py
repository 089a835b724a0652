"""Cache folder for values that can be recomputed, with atomic and sealed writes."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

_NEW = ".new-"
LAYOUT = "sealed"
"""Name of the folder for sealed files. Versions of symfix without seals use another folder."""
_SEAL = b"symfix-1"
_OTHERS_WRITE = 0o022
_PIECE = 1024**2


def folder(kind: str) -> Path:
    """Return the folder of one kind of stored results under the user's cache folder.

    Stored values become edits and loaded code. If another user owns the cache folder or can write it, the returned
    folder can be neither read nor written.
    """
    from platformdirs import user_cache_path

    place = user_cache_path("symfix")
    return (Path(os.devnull) / "symfix" if doubt(place) else place) / LAYOUT / kind


@lru_cache
def doubt(place: Path) -> str:
    """Create a folder of symfix. Return why another user may control it, or '' if it is safe or cannot be created."""
    if not place.is_absolute():
        return f"{place} lies in the working folder (XDG_CACHE_HOME is relative)"
    with contextlib.suppress(OSError):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = place.stat()
        if found.st_uid != os.geteuid():
            return f"{place} belongs to somebody else"
        if found.st_mode & _OTHERS_WRITE:
            return f"others can write {place} (chmod go-w)"
    return ""


def store(path: Path, content: bytes) -> None:
    """Store ``content`` for `load`. A failed write is ignored, since the next run can compute the content again."""
    put(path, seal(content))


def load(path: Path) -> bytes | None:
    """Return the content stored at ``path``, or None if it is missing or corrupt."""
    try:
        return unseal(path.read_bytes())
    except OSError:
        return None


def seal(content: bytes) -> bytes:
    """Return the content after a line with its digest."""
    return b"%b %b\n%b" % (_SEAL, digest(content), content)


def unseal(kept: bytes) -> bytes | None:
    """Return the sealed content, or None if the seal does not match."""
    head, _, content = kept.partition(b"\n")
    return content if head == b"%b %b" % (_SEAL, digest(content)) else None


def digest(content: bytes) -> bytes:
    """Return a short digest of a content, in hexadecimal digits."""
    return hashlib.blake2b(content, digest_size=16).hexdigest().encode()


def digest_of(path: Path) -> bytes:
    """Return the same digest for a file of any size. Raises OSError."""
    found = hashlib.blake2b(digest_size=16)
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            found.update(piece)
    return found.hexdigest().encode()


def append(path: Path, rows: Iterable[str]) -> None:
    """Append lines to a journal, each with its digest. An OSError is ignored."""
    lines = [row.encode() for row in rows]
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            # A killed run may have left half a line.
            file.write(b"\n" + b"".join(b"%b %b\n" % (digest(line), line) for line in lines))


def rows(path: Path) -> Iterator[bytes]:
    """Yield the intact lines of a journal. Truncated and corrupt lines are ignored."""
    try:
        content = path.read_bytes()
    except OSError:
        return
    for line in content.split(b"\n"):
        mark, _, row = line.partition(b" ")
        if row and mark == digest(row):
            yield row


def put(path: Path, content: bytes) -> None:
    """Write these bytes atomically. An OSError is ignored."""
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


def age(path: Path) -> int:
    """Return the modification time of an entry in nanoseconds, or 0 if another run has removed it.

    The time sorts entries for eviction of the oldest.
    """
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def owned(prefix: str) -> str:
    """Return a prefix for a temporary file that contains the process ID, from which `clear_dead` detects orphans."""
    return f"{prefix}{os.getpid()}-"


def clear_dead(folder: Path, prefix: str) -> None:
    """Remove the files in ``folder`` that were `owned` with ``prefix`` by a process that has ended."""
    for entry in list(os.scandir(folder)):
        owner = re.match(r"(\d+)-", entry.name.removeprefix(prefix)) if entry.name.startswith(prefix) else None
        if owner and not lives(int(owner[1])):
            with contextlib.suppress(OSError):
                Path(entry.path).unlink()


@lru_cache
def _clear_once(folder: Path) -> None:
    clear_dead(folder, _NEW)


def lives(process: int) -> bool:
    """Return whether a process with this ID exists."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
