"""Imports without what takes time and brings nothing: the garbage collector, and scipy in torch's tests."""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def collecting_nothing() -> Iterator[None]:
    """Nothing is collected in the block, and what is there at its end never will be: it is there to stay."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def imported(name: str) -> Any:
    """The module ``name``; one of torch's tests does not find scipy, whose functions nobody here compares with.

    Torch's operators, their dtypes and their samples are the same with it and without.
    """
    if not name.startswith("torch.testing.") or "scipy" in sys.modules:
        return importlib.import_module(name)
    modules: dict[str, Any] = sys.modules
    modules["scipy"] = None
    try:
        return importlib.import_module(name)
    finally:
        del modules["scipy"]
