"""Work without Python's garbage collector."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collecting_nothing() -> Iterator[None]:
    """Switch the garbage collector off for the block, here and in the processes that are forked from here.

    While a tree grows it takes a quarter of the time, and walking trees for cycles a third of a check. No model of a
    file holds itself, so that its tree is freed as soon as nobody holds it (a test counts what is left).
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
