"""Where symfix keeps what can be computed again, and how it puts it there."""

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
"""The files below are sealed; a symfix that knows no seals looks elsewhere."""
_SEAL = b"symfix-1"
_OTHERS_WRITE = 0o022
_PIECE = 1024**2


def folder(kind: str) -> Path:
    """The folder of one kind of stored results under the user's cache folder.

    What is stored becomes edits, and code that is loaded: where the cache folder is somebody else's, or others can
    write it, this is a folder that nothing can be read from or written to.
    """
    from platformdirs import user_cache_path

    place = user_cache_path("symfix")
    return (Path(os.devnull) / "symfix" if doubt(place) else place) / LAYOUT / kind


@lru_cache
def doubt(place: Path) -> str:
    """Why what stands in a folder of ours may be somebody else's; empty when it is the user's, or can't be made."""
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
    """Keep ``content`` for `load`; a cache that can't be written is no reason to fail, the next run computes again."""
    put(path, seal(content))


def load(path: Path) -> bytes | None:
    """What was stored at ``path``; None when there is nothing, or not what was stored: a miss, not an error."""
    try:
        return unseal(path.read_bytes())
    except OSError:
        return None


def seal(content: bytes) -> bytes:
    """The content behind a line that tells whether it is still the same."""
    return b"%b %b\n%b" % (_SEAL, digest(content), content)


def unseal(kept: bytes) -> bytes | None:
    """What was sealed; None for anything else."""
    head, _, content = kept.partition(b"\n")
    return content if head == b"%b %b" % (_SEAL, digest(content)) else None


def digest(content: bytes) -> bytes:
    """A short name of a content, in hexadecimal digits."""
    return hashlib.blake2b(content, digest_size=16).hexdigest().encode()


def digest_of(path: Path) -> bytes:
    """The same of a file, however large; raises OSError."""
    found = hashlib.blake2b(digest_size=16)
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            found.update(piece)
    return found.hexdigest().encode()


def append(path: Path, rows: Iterable[str]) -> None:
    """Add lines to a journal, each with a mark that tells whether it is whole."""
    lines = [row.encode() for row in rows]
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            # A killed run may have left half a line.
            file.write(b"\n" + b"".join(b"%b %b\n" % (digest(line), line) for line in lines))


def rows(path: Path) -> Iterator[bytes]:
    """The whole lines of a journal; one that is cut or garbled is as if it had never been written."""
    try:
        content = path.read_bytes()
    except OSError:
        return
    for line in content.split(b"\n"):
        mark, _, row = line.partition(b" ")
        if row and mark == digest(row):
            yield row


def put(path: Path, content: bytes) -> None:
    """Write these bytes atomically, where that is possible."""
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
    """When an entry was written, for a sort that lets the oldest go; another run may let it go meanwhile."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def owned(prefix: str) -> str:
    """A prefix for a temporary file that says whose it is, so that `clear_dead` knows when nobody's."""
    return f"{prefix}{os.getpid()}-"


def clear_dead(folder: Path, prefix: str) -> None:
    """Remove the files in ``folder`` that were `owned` with ``prefix`` by a process that is no more."""
    for entry in list(os.scandir(folder)):
        owner = re.match(r"(\d+)-", entry.name.removeprefix(prefix)) if entry.name.startswith(prefix) else None
        if owner and not lives(int(owner[1])):
            with contextlib.suppress(OSError):
                Path(entry.path).unlink()


@lru_cache
def _clear_once(folder: Path) -> None:
    clear_dead(folder, _NEW)


def lives(process: int) -> bool:
    """Whether there is a process of this number."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
