"""What a repair will ask, asked ahead by processes that take what the others leave of the processors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from .bench import Bench
from .drafts import Draft
from .grouping import Group


def standing_aside(bench: Bench) -> Bench:
    """The same bench, the processes of which leave the processors to all others; one of them runs at a time."""
    laboratory, quick = (
        one and replace(one, limits=replace(one.limits, aside=True)) for one in (bench.laboratory, bench.quick)
    )
    assert laboratory is not None
    return replace(bench, laboratory=laboratory, quick=quick, jobs=1)


@dataclass
class Ahead:
    """Tries groups in full while the rounds of a search go on; whoever asks the same later finds the answers.

    ``bench`` stands aside. ``index`` makes what the proofs look up, after the first groups.
    """

    bench: Bench
    index: Callable[[], object]
    _begun: dict[tuple[object, ...], Future[object]] = field(default_factory=dict)
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="ahead"))

    def begin(self, found: Sequence[Group], drafts: Mapping[Path, Draft]) -> None:
        """Have these groups tried in full, each alone; what was to be tried before and has not begun is forgotten.

        Those that run kernels are left: their library is another one as soon as one more operator needs its kernels.
        """
        for key in [key for key, future in self._begun.items() if future.cancel()]:
            del self._begun[key]
        drafts = dict(drafts)
        for group in found:
            key = (group.operators, *(fix for member in group.members for fix in member.fixes))
            if key not in self._begun and self.bench.swapped.isdisjoint(group.operators):
                self._begun[key] = self._pool.submit(self.bench.try_alone, drafts, [group])
        if found and () not in self._begun:
            self._begun[()] = self._pool.submit(self.index)

    def close(self) -> None:
        """Begin no more, and wait for what is running."""
        self._pool.shutdown(cancel_futures=True)
