"""Speculative trials at idle priority, whose results a repair reads later."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...harness.torch_variant import Harness
from .edited_file import EditedFile
from .groups import FixGroup
from .trial_runner import TrialRunner

_CROWDED = 2
"""Number of runnable processes for each processor, as an average of the last minute, above which nothing is begun."""


def run_at_idle_priority(bench: TrialRunner) -> TrialRunner:
    """Return the bench with one process at a time, which runs at idle priority."""

    def aside(laboratory: Harness) -> Harness:
        return replace(laboratory, limits=replace(laboratory.limits, aside=True))

    quick = bench.quick and aside(bench.quick)
    return replace(bench, laboratory=aside(bench.laboratory), quick=quick, jobs=1)


def is_crowded() -> bool:
    """Return whether other work keeps this machine so busy that a process at idle priority may never run.

    A later trial waits for the speculative one of the same group.
    """
    return os.getloadavg()[0] > _CROWDED * (os.cpu_count() or 1)


@dataclass
class Speculation:
    """Speculation: full trials of groups during the rounds of a search. Later trials find the results in the journal.

    ``bench`` runs at idle priority. After the groups the indexes for their proofs are made: of torch's tests by the
    Python ``functions`` that they run, and by the ``kernels``.
    """

    bench: TrialRunner
    functions: Callable[[], object]
    kernels: Callable[[], object]
    _begun: dict[tuple[object, ...], Future[object]] = field(default_factory=dict)
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="ahead"))

    def begin(self, found: Sequence[FixGroup], drafts: Mapping[Path, EditedFile]) -> None:
        """Start full trials of these groups, each without the others, and cancel earlier ones that have not begun.

        Groups that run kernels are skipped: their library changes as soon as another operator needs its kernels. Each
        operator is a separate task, so that a later request for its group waits for at most one of them.
        """
        for key in [key for key, future in self._begun.items() if future.cancel()]:
            del self._begun[key]
        if is_crowded():
            return
        drafts = dict(drafts)
        for group in found:
            fixes = [fix for member in group.members for fix in member.fixes]
            if self.bench.swapped.isdisjoint(group.operators):
                for name in self.bench.timing.longest_first(group.operators):
                    self._begin((name, *fixes), self.bench.try_alone, drafts, [replace(group, operators=(name,))])
        members = [member for group in found for member in group.members]
        if any(member.path.suffix == ".py" for member in members):
            self._begin(("functions",), self.functions)
        if any(member.path.suffix != ".py" or member.candidate.site.registers for member in members):
            self._begin(("kernels",), self.kernels)

    def _begin(self, key: tuple[object, ...], ask: Callable[..., object], *about: object) -> None:
        if key not in self._begun:
            self._begun[key] = self._pool.submit(ask, *about)

    def close(self) -> None:
        """Cancel the waiting tasks, and wait for the running one."""
        self._pool.shutdown(cancel_futures=True)
