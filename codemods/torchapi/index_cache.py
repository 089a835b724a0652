"""Cache of expensive results, computed once for all processes and keyed by their inputs."""

from __future__ import annotations

import os
from collections.abc import Callable

from ..system import cache_folder


def stored(kind: str, key: str, make: Callable[[], bytes]) -> bytes:
    """Return the bytes stored as ``kind``/``key``, or else those of ``make``, which are stored for the next time.

    If several processes need them at once, one computes them. If the cache folder cannot be written, they are computed
    without being stored.
    """
    path = cache_folder.folder(kind) / key
    kept = cache_folder.load(path)
    if kept is not None:
        return kept
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError:
        return make()
    if not os.access(path.parent, os.W_OK):
        return make()
    from filelock import FileLock

    with FileLock(path.with_name(path.name + ".lock")):
        kept = cache_folder.load(path)
        if kept is not None:
            return kept
        content = make()
        cache_folder.store(path, content)
        return content
