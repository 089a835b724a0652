"""Time of a run: wall time by phase, and processor time by operator."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Timing:
    """Sums of seconds: ``phases`` in wall time, ``operators`` in processor time of their trials."""

    phases: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    operators: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    _inner: float = 0.0
    """Time of the phases inside the current one."""

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Measure the time of the block for the phase ``name``, without the phases inside it."""
        started = time.monotonic()
        outer, self._inner = self._inner, 0.0
        try:
            yield
        finally:
            took = time.monotonic() - started
            self.phases[name] += took - self._inner
            self._inner = outer + took

    def longest_first(self, names: Iterable[str]) -> list[str]:
        """Sort the operators by their time, longest first, so that no process waits long for the last."""
        return sorted(names, key=lambda name: -self.operators.get(name, 0.0))

    def figures(self) -> dict[str, dict[str, float]]:
        """Return both as plain values: the phases in order, the operators by time."""
        return {
            "phases": {name: round(seconds, 1) for name, seconds in self.phases.items()},
            "operators": {name: round(self.operators[name], 1) for name in self.longest_first(self.operators)},
        }
