"""Inputs of a file's results other than its bytes: settings files above it, words elsewhere in its package."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from ..system.file_reader import contents
from .registry import WingCard


def settings_digest(path: Path, wing: WingCard) -> str:
    """Return a digest of the wing's settings files in the folder of ``path`` (absolute) and above it."""
    return _settings_digest(path.parent, wing.settings)


def package_mentions(path: Path, wing: WingCard) -> bool:
    """Return whether any file of the package of ``path`` (absolute) contains one of the wing's package words.

    The package is the topmost package above the file whose folders on the way to the file are packages too.
    """
    package = _package(path.parent)
    if package is None or not wing.package_words:
        return False
    return _speaks(package, wing.package_words, wing.suffixes)


def forget_packages() -> None:
    """Forget all settings and packages that were read, for a process that outlives changes of files."""
    for known in (_settings_digest, _package, _speaks):
        known.cache_clear()


@lru_cache(maxsize=4096)
def _settings_digest(folder: Path, names: tuple[str, ...]) -> str:
    if not names:
        return ""
    found = [_settings_digest(folder.parent, names).encode()] if folder != folder.parent else []
    for name in names:
        try:
            found.append(contents(folder / name))
        except OSError:
            continue
    return hashlib.blake2b(b"\0".join(found), digest_size=16).hexdigest()


@lru_cache(maxsize=4096)
def _package(folder: Path) -> Path | None:
    if not os.path.isfile(folder / "__init__.py"):  # noqa: PTH113
        return None
    return (folder != folder.parent and _package(folder.parent)) or folder


@lru_cache(maxsize=64)
def _speaks(package: Path, words: tuple[bytes, ...], suffixes: tuple[str, ...]) -> bool:
    for file in _files(package, suffixes):
        try:
            content = contents(file)
        except OSError:
            continue
        if any(word in content for word in words):
            return True
    return False


def _files(package: Path, suffixes: tuple[str, ...]) -> Iterator[Path]:
    for parent, folders, names in os.walk(package):
        folders.sort()
        yield from (Path(parent, name) for name in sorted(names) if name.endswith(suffixes))
