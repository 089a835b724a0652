"""Faster imports, without garbage collection and scipy, with an optional record of the functions they run and read."""

from __future__ import annotations

import cProfile
import gc
import importlib
import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

_OBJECTS = 20_000


@contextmanager
def collecting_nothing() -> Iterator[None]:
    """Run the block without garbage collection, and exempt all objects that exist at its end from later collections."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def collect_seldom() -> None:
    """Raise the threshold of the garbage collector: after 700 objects, collection takes a tenth of a trial."""
    gc.set_threshold(_OBJECTS)


def imported(name: str) -> Any:
    """Import the module ``name``. Scipy is hidden from torch's tests, since no scipy reference function is used here.

    Torch's operators, their dtypes and their samples are the same with and without scipy.
    """
    if not name.startswith("torch.testing.") or "scipy" in sys.modules:
        return importlib.import_module(name)
    modules: dict[str, Any] = sys.modules
    modules["scipy"] = None
    try:
        return importlib.import_module(name)
    finally:
        del modules["scipy"]


@dataclass
class Used:
    """Functions that ran while they were recorded, and those whose source was read."""

    codes: set[tuple[str, str, int]] = field(default_factory=set)
    files: set[str] = field(default_factory=set)
    """Files whose whole text counts as read."""

    def has(self, code: CodeType) -> bool:
        """Return whether a code object was run or read."""
        return code.co_filename in self.files or _key(code) in self.codes

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Record the functions that run in the block, in this thread, and the source that `inspect` reads."""
        finding: Any = inspect
        find, profile = finding.findsource, cProfile.Profile(subcalls=False, builtins=False)

        def found(thing: Any) -> Any:
            code = getattr(getattr(thing, "__func__", thing), "__code__", thing)
            if inspect.iscode(code):
                self.codes.add(_key(code))
            else:
                with suppress(TypeError):
                    self.files.add(str(inspect.getsourcefile(thing)))
            return find(thing)

        finding.findsource = found
        profile.enable()
        try:
            yield
        finally:
            profile.disable()
            finding.findsource = find
            ran: Any = profile.getstats()
            self.codes.update(_key(entry.code) for entry in ran if inspect.iscode(entry.code))


def _key(code: CodeType) -> tuple[str, str, int]:
    return code.co_filename, getattr(code, "co_qualname", code.co_name), code.co_firstlineno
