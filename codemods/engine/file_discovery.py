"""Paths to examine, and their bytes or the reason why a file is refused."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ..model.outcome import Refused
from ..model.source_file import SourceFile
from ..system.file_reader import NotAFile, contents

NOT_WALKED = frozenset(
    {"third_party", "node_modules", "__pycache__", "build", "dist", "site-packages", "test", "tests"}
)
_TEST_FILE = re.compile(r"(^test_.*|.*_test)\.[a-z]+$")
_GENERATED = b"@generated"
_GENERATED_WITHIN = 2048


@dataclass(frozen=True)
class DiscoveredFile:
    """File to examine: its path as it is ``spelled``, and its absolute path, ``located``."""

    spelled: str
    located: str
    named: bool
    """True if the caller named the file itself, not a folder above it."""
    suffix: str
    content: bytes | None = None
    """Bytes to use instead of reading the file, or None."""

    @classmethod
    def of(cls, path: Path, content: bytes | None = None) -> DiscoveredFile:
        """Return the target for a file that the caller named."""
        suffix = os.path.splitext(path)[1]  # noqa: PTH122
        return cls(str(path), str(path.absolute()), named=True, suffix=suffix, content=content)

    @cached_property
    def path(self) -> Path:
        return Path(self.spelled)


def find(paths: Iterable[Path], suffixes: frozenset[str], exclude: Sequence[str] = ()) -> Iterator[DiscoveredFile]:
    """Return the files of ``paths``, each once, in path order.

    A folder includes the files below it that some rule could read. Excluded are third-party code, build output, hidden
    folders, tests, and paths whose end matches a pattern of ``exclude``. A file that is named is always included.
    """
    targets: dict[str, DiscoveredFile] = {}
    for path in paths:
        if _is_folder(path):
            for target in _walk(path, suffixes, exclude):
                targets.setdefault(target.located, target)
        else:
            target = DiscoveredFile.of(path)
            targets[target.located] = target
    # Sorted as lists of path components.
    return iter(targets[located] for located in sorted(targets, key=lambda located: located.replace(os.sep, "\0")))


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        # For instance, the name is too long. Reading the file reports the error.
        return False


def _walk(folder: Path, suffixes: frozenset[str], exclude: Sequence[str]) -> Iterator[DiscoveredFile]:
    endings = tuple(suffixes)
    # Paths as strings: a Path for each of ten thousand files took a third of a check that has nothing to do.
    root, whole = str(folder), str(folder.absolute())
    for name, folders, files in os.walk(folder):
        below = name[len(root) :]
        # The paths of ``os.walk`` begin with the root. Only the root ``.`` is dropped by `Path`.
        parent = str(Path(name)) if root == "." else name
        folders[:] = [
            name
            for name in folders
            if name not in NOT_WALKED
            and not name.startswith(".")
            and not (exclude and _excluded(Path(parent, name), exclude))
        ]
        read = [
            (name, suffix)
            for name in files
            # The first test is cheap and rejects most files.
            if name.endswith(endings) and (suffix := os.path.splitext(name)[1]) in suffixes and not _is_test(name)  # noqa: PTH122
        ]
        here, located = (os.path.join(one, "") for one in (parent, whole + below))  # noqa: PTH118
        for name, suffix in read:
            if not (exclude and _excluded(Path(parent, name), exclude)):
                yield DiscoveredFile(here + name, located + name, named=False, suffix=suffix)


def _is_test(name: str) -> bool:
    return "test" in name and _TEST_FILE.match(name) is not None


def _excluded(path: Path, patterns: Sequence[str]) -> bool:
    return any(path.match(pattern) for pattern in patterns)


def read(path: Path) -> bytes | Refused:
    """Return the bytes of a file, or the reason why it cannot be read."""
    try:
        return contents(path)
    except NotAFile as error:
        return Refused(path, "not-a-file", f"{error.strerror}; name source files only")
    except FileNotFoundError:
        return Refused(path, "not-found", "no such file or folder; is the path spelled as it is on disk?")
    except PermissionError:
        return Refused(path, "unreadable", "may not be read; change its permissions or run as its owner")
    except OSError as error:
        return Refused(path, "unreadable", f"can't be read: {error.strerror or error}")


def admit(path: Path, content: bytes) -> SourceFile | Refused:
    """Return the file as a value. Refuse a binary or generated file, and one that is not UTF-8."""
    if b"\0" in content:
        return Refused(path, "binary", "is a binary file (it holds a NUL byte); name source files only")
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        return Refused(
            path, "not-utf-8", f"is not UTF-8 (byte 0x{content[error.start]:02x} at {error.start}); convert it first"
        )
    if is_generated(content):
        return Refused(path, "generated", "is generated (it says so near its top); change its generator")
    return SourceFile(path, content)


def is_generated(content: bytes) -> bool:
    """Return whether a file is marked as generated near its top."""
    return _GENERATED in content[:_GENERATED_WITHIN]
