"""Proofs of a run, one for each group. The first ones run in parallel with the rest of the search."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...model.rule import Fix
from .candidate_search import ALONE, Search
from .edited_file import EditedFile
from .group_proof import Prover
from .groups import FixGroup
from .phase_times import Timing
from .result import Repair
from .trials import Trial

_Key = tuple[tuple[str, ...], tuple[Fix, ...]]


@dataclass(frozen=True)
class _Asked:
    """A group to prove, with its operators that passed without other groups, and those that exceeded a time limit."""

    group: FixGroup
    drafts: Mapping[Path, EditedFile]
    passing: tuple[str, ...]
    overtime: tuple[str, ...] = ()

    @property
    def key(self) -> _Key:
        fixes = tuple(fix for member in self.group.members for fix in member.fixes)
        return self.group.operators, fixes


@dataclass
class Proofs:
    """Scheduler that proves each group once. ``first`` are the trials of the operators without any repair.

    ``beside`` is the number of proofs that run in parallel with a search.
    """

    prover: Prover
    first: Mapping[str, Trial]
    timing: Timing
    progress: Callable[[str], None]
    beside: int = 1
    _begun: dict[_Key, Future[Repair]] = field(default_factory=dict)
    _pool: ThreadPoolExecutor = field(init=False)

    def __post_init__(self) -> None:
        self._pool = ThreadPoolExecutor(self.beside, thread_name_prefix="proof")

    def begin(self, found: Sequence[FixGroup], drafts: Mapping[Path, EditedFile]) -> None:
        """Start proofs of groups that pass without the others, the longest first, while the search continues.

        Waiting proofs of earlier calls are cancelled, since their groups may have changed.
        """
        if self.prover.executor is not None:
            # On a cluster the tests of each proof are distributed to all workers already.
            return
        self._forget_the_waiting()
        drafts, alone = dict(drafts), replace(self.prover, jobs=1)
        for asked in self._longest_first([_Asked(group, drafts, group.operators) for group in found]):
            if asked.key not in self._begun:
                self._begun[asked.key] = self._pool.submit(self._prove, asked, alone, "beside the search")

    def repairs(self, search: Search) -> list[Repair]:
        """Return each group of the search as a repair with its verdict.

        Each process proves one group, the longest first, so that none waits for another's. A group that takes at least
        as long as all others together is proven first, by all processes.
        """
        self._forget_the_waiting()
        every = self._asked(search)
        new = self._longest_first([asked for asked in every if asked.key not in self._begun])
        numbers = {asked.key: f"{number} of {len(every)}" for number, asked in enumerate(every, 1)}
        running = [future for future in self._begun.values() if not future.done()]
        beside, each = self.prover.jobs, replace(self.prover, jobs=1)
        if self.prover.executor is not None:
            beside, each = 1, self.prover

        def prove(asked: _Asked, prover: Prover) -> None:
            done: Future[Repair] = Future()
            done.set_result(self._prove(asked, prover, numbers[asked.key]))
            self._begun[asked.key] = done

        with self.timing.phase("proofs"):
            if not running and self._is_half(new):
                prove(new[0], self.prover)
                new = new[1:]
            with ThreadPoolExecutor(beside) as pool:
                ended: list[Future[Any]] = [pool.submit(future.result) for future in running]
                ended += [pool.submit(prove, asked, each) for asked in new]
            for one in ended:
                one.result()
        return [self._begun[asked.key].result() for asked in every]

    def close(self) -> None:
        """Cancel the waiting proofs, and wait for the running ones."""
        self._pool.shutdown(cancel_futures=True)

    def _forget_the_waiting(self) -> None:
        for key in [key for key, future in self._begun.items() if future.cancel()]:
            del self._begun[key]

    def _asked(self, search: Search) -> list[_Asked]:
        passing = [name for name, trial in search.trials.items() if trial.passed]
        found = search.grouping(search.chains, passing)
        with self.timing.phase(ALONE):
            trials = search.bench.try_alone(search.drafts, found)
        every = []
        for group, alone in zip(found, trials, strict=True):
            kept = tuple(name for name in group.operators if alone[name].passed)
            overtime = tuple(name for name in group.operators if alone[name].crashed)
            every.append(_Asked(replace(group, operators=kept or group.operators), search.drafts, kept, overtime))
        return every

    def _longest_first(self, every: Sequence[_Asked]) -> list[_Asked]:
        return sorted(every, key=self._seconds, reverse=True)

    def _is_half(self, every: Sequence[_Asked]) -> bool:
        """Return whether the trials of the first group took at least as long as those of all others."""
        return bool(every) and 2 * self._seconds(every[0]) >= sum(map(self._seconds, every))

    def _seconds(self, asked: _Asked) -> float:
        return sum(self.timing.operators.get(name, 0.0) for name in asked.group.operators)

    def _prove(self, asked: _Asked, prover: Prover, which: str) -> Repair:
        made = prover.repair(asked.group, asked.drafts, self.first, asked.passing)
        self.progress(f"proving {which}: {made.name} ({len(asked.passing)} operators)")
        if not asked.passing and not asked.overtime:
            return replace(made, doubt="alone, without the other repairs, none of its operators passes")
        return prover.prove(made, asked.overtime)
