"""C++ files of a PyTorch tree: those that define a kernel, and those that mention its name elsewhere."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

NATIVE = Path("aten/src/ATen/native")
FOLDERS = (Path("aten/src/ATen"), Path("torch/csrc"), Path("functorch/csrc"))
_SUFFIXES = frozenset({".cpp", ".h", ".cu", ".cuh", ".mm", ".hpp"})
_DEFINED = re.compile(rb"^[A-Za-z][\w:<>&*, ]*[ &*](\w+)\s*\(", re.MULTILINE)
_WORD = rb"\b(?:native::|OP_DECOMPOSE2?\()(%s)\b"


@dataclass(frozen=True)
class Mention:
    """Position that names a kernel with ``native::``, or passes it to functorch's macro."""

    path: Path
    name: str
    start: int


@lru_cache(maxsize=2)
def texts(tree: Path) -> Mapping[Path, bytes]:
    """Return the C++ files of a tree by their paths in it."""
    found = {}
    for folder in FOLDERS:
        for path in sorted((tree / folder).rglob("*")):
            if path.suffix in _SUFFIXES and path.is_file():
                found[path.relative_to(tree)] = path.read_bytes()
    return found


@lru_cache(maxsize=2)
def _definitions(tree: Path) -> Mapping[str, tuple[Path, ...]]:
    found: dict[str, list[Path]] = defaultdict(list)
    for path, content in texts(tree).items():
        if path.suffix == ".cpp" and path.is_relative_to(NATIVE):
            for name in set(_DEFINED.findall(content)):
                found[name.decode()].append(path)
    return {name: tuple(paths) for name, paths in found.items()}


def defining(tree: Path, kernel: str) -> tuple[Path, ...]:
    """Return the files below ``native`` that appear to define a function of this name."""
    return _definitions(tree).get(kernel, ())


def headers_with(tree: Path, name: str) -> Iterator[Path]:
    """Yield the headers below ``native`` that contain a name before a parenthesis."""
    word = re.compile(rb"\b%s\(" % name.encode())
    for path, content in texts(tree).items():
        if path.suffix == ".h" and path.is_relative_to(NATIVE) and word.search(content):
            yield path


def mentions(tree: Path, kernels: Collection[str]) -> Iterator[Mention]:
    """Yield the positions of the tree that name one of these kernels of at::native."""
    if not kernels:
        return
    names = re.compile(_WORD % b"|".join(sorted(name.encode() for name in kernels)))
    for path, content in texts(tree).items():
        if b"native::" in content or b"OP_DECOMPOSE" in content:
            for match in names.finditer(content):
                yield Mention(path, match[1].decode(), match.start(1))
