"""Precompiled headers that operator files share, compiled once for each torch, compiler and flags."""

from __future__ import annotations

import hashlib
import shutil
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from filelock import FileLock

from ...harness.process_limits import Limits, run
from ...harness.temp_folder import new_name
from ...system.cache_folder import age, digest_of, folder, load, put, store
from .toolchain import Toolchain

HEADERS = (
    "ATen/core/Tensor.h",
    "ATen/Dispatch.h",
    "ATen/ExpandUtils.h",
    "ATen/Parallel.h",
    "ATen/TensorIterator.h",
    "ATen/TensorMeta.h",
    "ATen/TensorOperators.h",
    "ATen/TensorSubclassLikeUtils.h",
    "ATen/TensorUtils.h",
    "ATen/WrapDimUtils.h",
    "ATen/native/DispatchStub.h",
    "ATen/native/Resize.h",
    "c10/core/TensorOptions.h",
    "c10/util/irange.h",
    "torch/library.h",
)
CORE = (
    "ATen/Context.h",
    "ATen/DeviceGuard.h",
    "ATen/TensorUtils.h",
    "ATen/TracerMode.h",
    "ATen/core/Generator.h",
    "ATen/core/Reduction.h",
    "ATen/core/Tensor.h",
    "c10/core/Scalar.h",
    "c10/core/Storage.h",
    "c10/core/TensorOptions.h",
)
"""Headers that every per-operator header includes, and therefore nearly every operator file."""
_USED = """\
inline bool symfix_uses(
    const c10::AwaitType& a, const c10::FutureType& f, const c10::ListType& l, const c10::RRefType& r) {
  return a.equals(a) && f.equals(f) && l.equals(l) && r.equals(r);
}
"""
"""Calls of virtual functions of templates whose vtables the headers use. Without a call in the precompiled header, each
file would instantiate them again."""
_KEPT = 2


@dataclass(frozen=True)
class Prelude:
    """Header with its compiled form in the same folder, and all the headers that it includes."""

    header: Path

    @property
    def closure(self) -> frozenset[str]:
        """Return the paths of the headers, as the compiler writes them."""
        return headers_in(self.header.with_suffix(".d").read_text())


class Preludes:
    """Two precompiled headers. ``wide`` is the fastest for most files.

    The headers in the smaller ``core`` are those that a file is likely to include itself.
    """

    def __init__(self, toolchain: Toolchain, scratch: Path, limits: Limits, progress: Callable[[str], None]) -> None:
        self._toolchain, self._scratch, self._limits, self._progress = toolchain, scratch, limits, progress
        place = folder("precompiled") / hashlib.sha256(toolchain.identity.encode()).hexdigest()[:32]
        self.wide, self.core = Prelude(place / "wide.h"), Prelude(place / "core.h")
        self._names = {self.wide: HEADERS, self.core: CORE}
        self._told = threading.Lock()

    def made(self, one: Prelude) -> Prelude | None:
        """Return ``one``, compiled if it does not exist yet, or None if that fails."""
        header = one.header
        try:
            with FileLock(header.with_suffix(".lock")):
                if not _whole(header):
                    if self._told.acquire(blocking=False):
                        self._progress("precompiling torch's headers (once for each torch and compiler)")
                    _make(self._toolchain, self._scratch, self._limits, header, self._names[one])
                    _forget_oldest(header.parent)
                return one if _whole(header) else None
        except OSError:
            return None


def headers_in(rule: str) -> frozenset[str]:
    """Return the paths in a make rule that a compiler wrote for a file, without its target and the file."""
    _, _, words = rule.replace("\\\n", " ").partition(": ")
    return frozenset(words.split()[1:])


def _whole(header: Path) -> bool:
    """Return whether header, list and compiled form are unmodified, since the compiler reads them in place."""
    try:
        return load(header.with_suffix(".sum")) == _sum(header)
    except OSError:
        return False


def _sum(header: Path) -> bytes:
    return b" ".join(map(_digest, (header, header.with_suffix(".d"), _compiled(header))))


def _digest(path: Path) -> bytes:
    """Return a file's digest, cached until the file is written again, since it may have hundreds of megabytes."""
    found = path.stat()
    return _digest_of_written(path, found.st_ino, found.st_size, found.st_mtime_ns)


@lru_cache
def _digest_of_written(path: Path, inode: int, size: int, written: int) -> bytes:
    return digest_of(path)


def _compiled(header: Path) -> Path:
    return header.with_suffix(".h.gch")


def _make(toolchain: Toolchain, scratch: Path, limits: Limits, header: Path, names: Sequence[str]) -> None:
    there = [name for name in names if any((include / name).is_file() for include in toolchain.includes)]
    used = _USED if "ATen/core/Tensor.h" in there else ""
    put(header, ("".join(f"#include <{name}>\n" for name in there) + used).encode())
    # The sandbox may allow the compiler to write only to the scratch folder.
    fresh, rule = scratch / new_name("prelude"), scratch / new_name("headers")
    ended = run(toolchain.precompile_command(header, fresh, rule), scratch=scratch, limits=limits)
    if ended.code != 0:
        return
    for made, target in ((rule, header.with_suffix(".d")), (fresh, _compiled(header))):
        beside = header.with_suffix(".new")
        shutil.move(made, beside)
        beside.replace(target)
    store(header.with_suffix(".sum"), _sum(header))


def _forget_oldest(newest: Path) -> None:
    others = [place for place in newest.parent.iterdir() if place != newest and any(place.glob("*.gch"))]
    for place in sorted(others, key=age)[: 1 - _KEPT]:
        shutil.rmtree(place, ignore_errors=True)
