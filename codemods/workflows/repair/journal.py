"""Recorded trials, so that no operator is tried twice on the same torch and texts, nor concurrently."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from threading import Condition

from ...harness.process_limits import children_digest
from ...system import cache_folder
from .trials import TorchFrame, Trial


class TrialJournal:
    """File of trials, appended as they arrive. An incomplete line of a killed run is skipped."""

    def __init__(self, path: Path | None, build: str) -> None:
        self._path = path
        self._build = build
        self._rows: dict[str, Trial] = {}
        self._asked: set[str] = set()
        self._answered = Condition()
        if path is not None:
            for line in cache_folder.rows(path):
                try:
                    row = json.loads(line)
                    key = row.pop("key")
                    self._rows[key] = _trial(row)
                except (ValueError, KeyError, TypeError):
                    continue

    def forget(self) -> None:
        """Delete all trials."""
        self._rows = {}
        if self._path is not None:
            with suppress(OSError):
                self._path.unlink()

    def key(self, operator: str, variant: str, sample: int, most: int) -> str:
        """Return the key of one trial."""
        parts = (self._build, children_digest(), operator, variant, str(sample), str(most))
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]

    def get(self, key: str) -> Trial | None:
        return self._rows.get(key)

    @contextmanager
    def asking(self, keys: Iterable[str]) -> Iterator[frozenset[str]]:
        """Claim the trials that are neither recorded nor claimed by another thread, for the length of the block."""
        with self._answered:
            own = frozenset(key for key in keys if key not in self._asked and key not in self._rows)
            self._asked |= own
        try:
            yield own
        finally:
            with self._answered:
                self._asked -= own
                self._answered.notify_all()

    def wait_for(self, keys: Iterable[str]) -> None:
        """Wait until no other thread has claimed these trials."""
        with self._answered:
            self._answered.wait_for(lambda: self._asked.isdisjoint(keys))

    def add(self, rows: Mapping[str, Trial]) -> None:
        """Record trials, also on disk."""
        self._rows |= rows
        if self._path is None or not rows:
            return
        cache_folder.append(self._path, (json.dumps({"key": key, **asdict(trial)}) for key, trial in rows.items()))


def _trial(row: dict[str, object]) -> Trial:
    frames, calls = row.pop("frames"), row.pop("calls")
    assert isinstance(frames, list) and isinstance(calls, list)
    return Trial(**row, frames=tuple(_frame(**frame) for frame in frames), calls=tuple(calls))  # type: ignore[arg-type]


def _frame(file: str, line: int, function: str, conditions: list[str], operators: list[str]) -> TorchFrame:
    return TorchFrame(file, line, function, tuple(conditions), tuple(operators))
