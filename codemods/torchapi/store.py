"""Results that are dear to make, made once for all processes and kept by what they were made from."""

from __future__ import annotations

import os
from collections.abc import Callable

from ..engine import storage


def stored(kind: str, key: str, make: Callable[[], bytes]) -> bytes:
    """The bytes kept as ``kind``/``key``, else those of ``make``, which are kept for the next time.

    Of several processes that ask at once, one makes them. A cache folder that can't be written costs time, not the
    result.
    """
    path = storage.folder(kind) / key
    kept = storage.load(path)
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
        kept = storage.load(path)
        if kept is not None:
            return kept
        content = make()
        storage.store(path, content)
        return content
