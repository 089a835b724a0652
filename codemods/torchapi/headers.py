"""The hand-written C++ headers of a torch that composite code calls into."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

_FOLDERS = (
    ("c10", True),
    ("ATen/core", False),
    ("ATen", False),
    ("ATen/templates", False),
    ("ATen/native", True),
    ("torch/csrc/autograd", False),
)
_LARGEST_BY_HAND = 1_000_000


def headers(include_dirs: Iterable[Path]) -> Iterator[os.DirEntry[str]]:
    """Every header of ATen, c10 and autograd below the include folders; ``ATen/ops`` is the yaml's."""
    folders = tuple(include_dirs)
    for name, deep in _FOLDERS:
        for folder in folders:
            yield from _scan(folder / name, deep=deep)


def fingerprint(include_dirs: Iterable[Path]) -> str:
    """A hash that changes when a header comes, goes, or is written."""
    digest = hashlib.sha256()
    for header in headers(include_dirs):
        stat = header.stat()
        digest.update(f"{header.path}\0{stat.st_size}\0{stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def written_by_hand(content: bytes) -> bool:
    """Whether a header is for people to include, rather than torchgen's output."""
    if len(content) > _LARGEST_BY_HAND or b"@generated" in content[:4096]:
        return False
    return b"#pragma once" in content or b"#ifndef" in content


def _scan(folder: str | Path, *, deep: bool) -> Iterator[os.DirEntry[str]]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name.endswith(".h"):
            yield entry
        elif deep and "." not in entry.name and entry.is_dir():
            yield from _scan(entry.path, deep=True)
