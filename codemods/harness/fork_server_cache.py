"""Fork servers reused between requests, one set per thread, for long-lived processes such as cluster workers."""

from __future__ import annotations

import atexit
import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from .fork_server import Forking, forking
from .process_limits import Limits
from .temp_folder import new_name, scratch_folder
from .torch_variant import Harness, Touched, Variant

_Key = tuple[Path, Limits, Mapping[str, bytes], Mapping[str, Touched]]


@dataclass(frozen=True)
class _Kept:
    key: _Key
    laboratory: Forking
    laid: Mapping[str, Path]
    closing: ExitStack


@dataclass
class _Places(threading.local):
    """Fork servers of one thread, not shared between threads so that their requests do not block each other."""

    kept: dict[bool, _Kept] = field(default_factory=dict)
    """Fork servers of the thread. The key is True for the one with modules overlaid on torch."""


_places = _Places()


@contextmanager
def kept(
    python: Path,
    limits: Limits,
    laid: Mapping[str, bytes] = MappingProxyType({}),
    wanted: Mapping[str, Touched] = MappingProxyType({}),
) -> Iterator[tuple[Harness, Mapping[str, Path]]]:
    """Yield a harness of `forking`, and the files of the modules ``laid``.

    Its scratch folder is removed at the end of the block. Its process ends with this one, or when other modules are
    overlaid. A thread keeps one process with the installed torch, and one with modules overlaid.
    """
    key = (python, replace(limits, wall=0.0, cpu=0), dict(laid), dict(wanted))
    held = _places.kept.get(bool(laid))
    if held is None or held.key != key or held.laboratory.over:
        if held is not None:
            del _places.kept[bool(laid)]
            atexit.unregister(held.closing.close)
            held.closing.close()
        held = _places.kept[bool(laid)] = _start(key, limits)
    folder = held.laboratory.scratch / new_name("task")
    folder.mkdir()
    try:
        yield replace(held.laboratory, scratch=folder, limits=limits), held.laid
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _start(key: _Key, limits: Limits) -> _Kept:
    python, _, laid, wanted = key
    with ExitStack() as stack:
        scratch = stack.enter_context(scratch_folder())
        files = {}
        for name, content in laid.items():
            files[name] = scratch / new_name("module.py")
            files[name].write_bytes(content)
        alone = Harness(python, scratch, limits)
        changed = Variant("laid", modules=files, wanted=wanted)
        ready = stack.enter_context(forking(alone, 1, laid=changed, exchange=not laid))
        closing = stack.pop_all()
    atexit.register(closing.close)
    return _Kept(key, ready, files, closing)
