"""Runs of the user's scripts and commands on three torches: installed, with the files before, with the files after."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from ..harness.torch_variant import Replayed, Variant
from .before_after import Side
from .change import Check
from .evidence import question_key

Memory = MutableMapping[str, Replayed]
"""Cached results on the installed torch and on the files before, which later requests about the same ones reuse."""
INSTALLED = Variant("installed", identity="installed")


@dataclass(frozen=True)
class _Run:
    protocol: str
    subject: str
    content: bytes
    on: Callable[[Variant], Replayed]


class Replays:
    """Runs of scripts and commands, at most ``jobs`` at a time. Those on the installed torch start before the build."""

    def __init__(
        self,
        side: Callable[[Variant], Side],
        repros: Sequence[Path],
        tests: Sequence[str],
        folder: Path,
        jobs: int,
        memory: Memory | None = None,
    ) -> None:
        self._memory: Memory = {} if memory is None else memory
        self._load = _Run("load", "", b"", partial(_load, side))
        self._asked = [
            _Run("repro", script.name, bytes(script) + script.read_bytes(), partial(_replay, side, script))
            for script in repros
        ] + [_Run("test", words, words.encode(), partial(_command, side, words, folder)) for words in tests]
        self._loads = bool(repros)
        self._pool = ThreadPoolExecutor(max(1, jobs), thread_name_prefix="replay")
        self._installed = [self._start(item, INSTALLED) for item in self._asked]

    @property
    def subjects(self) -> str:
        """Return the names of the scripts and commands for the user, or "" without any."""
        return ", ".join(item.subject for item in self._asked)

    def close(self) -> None:
        """Cancel the pending runs, and wait for the running ones."""
        self._pool.shutdown(cancel_futures=True)

    def compare(
        self, before: Variant, after: Variant, *, must_load: bool
    ) -> tuple[list[Check], list[Replayed], Sequence[Replayed]]:
        """Return the checks, the results on ``after``, and one result per side that shows whether it loads.

        The last is empty without a script, unless ``must_load``.
        """
        runs = self._asked if self._loads or not must_load else [self._load, *self._asked]
        started = [(self._start(item, before), self._start(item, after)) for item in runs]
        seen = [(one.result(), other.result()) for one, other in started]
        compared = zip(self._asked, seen[len(runs) - len(self._asked) :], self._installed, strict=True)
        checks = [
            Check(item.protocol, item.subject, one.observation, other.observation, reference.result().observation)
            for item, (one, other), reference in compared
        ]
        return checks, [other for _, other in seen], seen[0] if self._loads or must_load else ()

    def _start(self, item: _Run, variant: Variant) -> Future[Replayed]:
        return self._pool.submit(self._run, item, variant)

    def _run(self, item: _Run, variant: Variant) -> Replayed:
        if variant.name == "after":
            return item.on(variant)
        key = question_key([item.protocol.encode(), item.content, variant.identity.encode()])
        known = self._memory.get(key)
        if known is None:
            known = self._memory[key] = item.on(variant)
        return known


def _load(side: Callable[[Variant], Side], variant: Variant) -> Replayed:
    replayed = side(variant).laboratory.replay(variant, None)
    return replace(replayed, loaded=replayed.loaded and replayed.observation.passed)


def _replay(side: Callable[[Variant], Side], script: Path, variant: Variant) -> Replayed:
    return side(variant).laboratory.replay(variant, script)


def _command(side: Callable[[Variant], Side], words: str, folder: Path, variant: Variant) -> Replayed:
    return side(variant).laboratory.command(variant, words, folder)
