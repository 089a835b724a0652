"""Headers that operator files share, compiled once for a torch, a compiler and its flags."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from filelock import FileLock

from ...engine.storage import age, digest_of, folder, load, put, store
from ...lab.isolation import Limits, run
from ...lab.scratch import new_name
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
"""What every per-operator header includes, and so nearly every operator file."""
_KEPT = 2


@dataclass(frozen=True)
class Prelude:
    """A header that stands compiled beside itself, and all the headers that come with it."""

    header: Path

    @property
    def closure(self) -> frozenset[str]:
        """The paths of the headers, as the compiler writes them."""
        return headers_in(self.header.with_suffix(".d").read_text())


@dataclass(frozen=True)
class Preludes:
    """``wide`` is the fastest for most files; what the smaller ``core`` holds a file is likely to include itself."""

    wide: Prelude
    core: Prelude


def headers_in(rule: str) -> frozenset[str]:
    """The paths in a rule for make that a compiler wrote of a file, without its target and the file."""
    _, _, words = rule.replace("\\\n", " ").partition(": ")
    return frozenset(words.split()[1:])


def preludes(
    toolchain: Toolchain, scratch: Path, limits: Limits, progress: Callable[[str], None], *, at_once: bool = False
) -> Preludes | None:
    """Both headers with their compiled forms, or None: not worth it yet, or this compiler can't.

    They take as long as four operator files, so the first to ask goes without and leaves a note for the second, but
    for who has many files ``at_once``.
    """
    if not toolchain.precompiles:
        return None
    place = folder("precompiled") / hashlib.sha256(toolchain.identity.encode()).hexdigest()[:32]
    wanted = {place / "wide.h": HEADERS, place / "core.h": CORE}
    found = Preludes(*(Prelude(header) for header in wanted))
    note = place / "asked"
    if _there(wanted):
        return found
    if not note.exists():
        store(note, b"")
        if not at_once:
            return None
    try:
        with FileLock(place / "lock"):
            progress("precompiling torch's headers (once for each torch and compiler)")
            if not _there(wanted):
                with ThreadPoolExecutor(len(wanted)) as pool:
                    list(pool.map(partial(_make, toolchain, scratch, limits), wanted, wanted.values()))
                _forget_oldest(place)
            return found if _there(wanted) else None
    except OSError:
        return None


def _there(headers: Iterable[Path]) -> bool:
    return all(_whole(header) for header in headers)


def _whole(header: Path) -> bool:
    """Whether header, list and compiled form are as they were made; the compiler reads them where they are."""
    try:
        return load(header.with_suffix(".sum")) == _sum(header)
    except OSError:
        return False


def _sum(header: Path) -> bytes:
    return b" ".join(map(digest_of, (header, header.with_suffix(".d"), _compiled(header))))


def _compiled(header: Path) -> Path:
    return header.with_suffix(".h.gch")


def _make(toolchain: Toolchain, scratch: Path, limits: Limits, header: Path, names: Sequence[str]) -> None:
    there = [name for name in names if any((include / name).is_file() for include in toolchain.includes)]
    put(header, "".join(f"#include <{name}>\n" for name in there).encode())
    # The compiler may be kept from writing anywhere else.
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
