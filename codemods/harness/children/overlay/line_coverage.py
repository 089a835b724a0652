"""Recorder of the changed statements of overlaid modules that were started in this process."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

# Dynamo compiles each Python function that is called, a tracer too, except those of the import system.
_LEFT_ALONE = "<frozen importlib of symfix>"


def _unseen(function: Callable[..., Any]) -> Callable[..., Any]:
    function.__code__ = function.__code__.replace(co_filename=_LEFT_ALONE)
    return function


class Recorder:
    """Tracer that stops after all ``wanted`` statements were seen, each given by its lines, by module."""

    def __init__(self, wanted: Mapping[str, Sequence[Sequence[int]]]) -> None:
        self._wanted = wanted
        self._seen: dict[str, set[int]] = {name: set() for name in wanted}
        self._files: dict[str, tuple[set[int], dict[int, list[int]]]] = {}
        self._follows_dynamo = False

    @property
    def ran(self) -> dict[str, list[int]]:
        """Return the indices of the wanted statements that were run, by module."""
        return {name: sorted(seen) for name, seen in self._seen.items()}

    def watch(self, module: str, file: str) -> None:
        """Record the code of ``file`` as that of ``module``."""
        telling: dict[int, list[int]] = {}
        for number, lines in enumerate(self._wanted.get(module, ())):
            for line in lines:
                telling.setdefault(line, []).append(number)
        if telling:
            self._files[file] = self._seen[module], telling

    def start(self) -> None:
        """Trace this thread and those started from now on, unless everything was seen."""
        if self._left():
            sys.settrace(self._entered)
            threading.settrace(self._entered)

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Trace within the block, then restore the previous tracer."""
        before = sys.gettrace()
        self._follow_dynamo()
        self.start()
        try:
            yield
        finally:
            if before != self._entered or self._left():
                sys.settrace(before)

    def _follow_dynamo(self) -> None:
        """Record dynamo's current location, since no tracer sees the code that dynamo compiles."""
        guards: Any = sys.modules.get("torch._guards")
        if guards is None or self._follows_dynamo or not self._wanted:
            return
        self._follows_dynamo = True
        tell = guards.TracingContext.set_current_loc

        def told(filename: str, line: int, *more: Any, **named: Any) -> None:
            if filename in self._files:
                self._note(filename, line)
            tell(filename, line, *more, **named)

        guards.TracingContext.set_current_loc = staticmethod(told)

    def _note(self, file: str, line: int) -> None:
        seen, telling = self._files[file]
        seen.update(telling.pop(line, ()))

    def _left(self) -> bool:
        return any(len(lines) > len(self._seen[name]) for name, lines in self._wanted.items())

    @_unseen
    def _entered(self, frame: Any, event: str, argument: Any) -> Any:
        return self._passed if frame.f_code.co_filename in self._files else None

    @_unseen
    def _passed(self, frame: Any, event: str, argument: Any) -> Any:
        seen, telling = self._files[frame.f_code.co_filename]
        numbers = telling.pop(frame.f_lineno, None)
        if numbers:
            seen.update(numbers)
            if not self._left() and sys.gettrace() == self._entered:
                sys.settrace(None)
                threading.settrace(None)
        return self._passed
