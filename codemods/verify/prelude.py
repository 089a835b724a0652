"""The headers that most operator files share, compiled once for a torch, a compiler and its flags."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

from ..storage import folder, store
from .isolation import Limits, run
from .scratch import new_name
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
_KEPT = 2


def prelude(toolchain: Toolchain, scratch: Path, limits: Limits, progress: Callable[[str], None]) -> Path | None:
    """A header with its compiled form beside it, or None: not worth it yet, or this compiler can't.

    It takes as long as four operator files, so the first to ask goes without and leaves a note for the second.
    """
    if not toolchain.precompiles:
        return None
    place = folder("precompiled") / hashlib.sha256(toolchain.identity.encode()).hexdigest()[:32]
    header, compiled, note = place / "prelude.h", place / "prelude.h.gch", place / "asked"
    if compiled.is_file():
        return header
    if not note.exists():
        store(note, b"")
        return None
    try:
        with FileLock(place / "lock"):
            progress("precompiling torch's headers (once for each torch and compiler)")
            return header if compiled.is_file() or _make(toolchain, header, compiled, scratch, limits) else None
    except OSError:
        return None


def _make(toolchain: Toolchain, header: Path, compiled: Path, scratch: Path, limits: Limits) -> bool:
    there = [name for name in HEADERS if any((include / name).is_file() for include in toolchain.includes)]
    header.write_text("".join(f"#include <{name}>\n" for name in there))
    fresh = scratch / new_name("prelude")
    ended = run(toolchain.precompile_command(header, fresh), scratch=scratch, limits=limits)
    if ended.code != 0:
        return False
    beside = compiled.with_name("prelude.new")
    shutil.move(fresh, beside)
    beside.replace(compiled)
    _forget_oldest(compiled.parent)
    return True


def _forget_oldest(newest: Path) -> None:
    others = [place for place in newest.parent.iterdir() if place != newest and (place / "prelude.h.gch").is_file()]
    for place in sorted(others, key=lambda item: item.stat().st_mtime)[: 1 - _KEPT]:
        shutil.rmtree(place, ignore_errors=True)
