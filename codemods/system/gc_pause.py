"""Context manager that switches Python's garbage collector off."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collecting_nothing() -> Iterator[None]:
    """Switch the garbage collector off for the block, in this process and in those forked from it.

    The collector takes a quarter of the time while a tree grows, and a third of a check when it walks trees for cycles.
    File models contain no reference cycles, so a tree is freed with its last reference. A test counts the remaining
    objects.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
