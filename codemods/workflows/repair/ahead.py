"""What a repair will ask, asked ahead by processes that take what the others leave of the processors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...lab.variants import Laboratory
from .bench import Bench
from .drafts import Draft
from .grouping import Group


def standing_aside(bench: Bench) -> Bench:
    """The same bench, whose processes leave the processors to all others; one of them runs at a time."""

    def aside(laboratory: Laboratory) -> Laboratory:
        return replace(laboratory, limits=replace(laboratory.limits, aside=True))

    quick = bench.quick and aside(bench.quick)
    return replace(bench, laboratory=aside(bench.laboratory), quick=quick, jobs=1)


@dataclass
class Ahead:
    """Tries groups in full while the rounds of a search go on; whoever asks the same later finds the answers.

    ``bench`` stands aside. Behind the groups the indexes are made that their proofs look up: which of torch's tests run
    which of its ``functions`` in Python, and which of its ``kernels``.
    """

    bench: Bench
    functions: Callable[[], object]
    kernels: Callable[[], object]
    _begun: dict[tuple[object, ...], Future[object]] = field(default_factory=dict)
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="ahead"))

    def begin(self, found: Sequence[Group], drafts: Mapping[Path, Draft]) -> None:
        """Have these groups tried in full, each alone; what was to be tried before and has not begun is forgotten.

        Those that run kernels are left: their library is another one as soon as one more operator needs its kernels.
        Each operator is a question of its own: who asks about the group does not wait for more than one of them.
        """
        for key in [key for key, future in self._begun.items() if future.cancel()]:
            del self._begun[key]
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
        """Begin no more, and wait for what is running."""
        self._pool.shutdown(cancel_futures=True)
