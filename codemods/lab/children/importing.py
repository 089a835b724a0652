"""Imports: without what takes time and brings nothing, and with a note of which functions they ran and read.

What brings nothing is the garbage collector, and scipy in torch's tests.
"""

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
    """Nothing is collected in the block, and what is there at its end never will be: it is there to stay."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def collect_seldom() -> None:
    """Have the collector look for garbage once there are many more objects; after 700 it takes a tenth of a trial."""
    gc.set_threshold(_OBJECTS)


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


@dataclass
class Used:
    """The functions that were run while they were noted, and those of which the text was read."""

    codes: set[tuple[str, str, int]] = field(default_factory=set)
    files: set[str] = field(default_factory=set)
    """Of these all text counts as read."""

    def has(self, code: CodeType) -> bool:
        """Whether a code was run or read."""
        return code.co_filename in self.files or _key(code) in self.codes

    @contextmanager
    def noting(self) -> Iterator[None]:
        """What is run in the block, in this thread, and what is read by `inspect`, counts as used."""
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
