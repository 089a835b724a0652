"""Torch before and after a change, asked the same operator tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from ..lab.operators import Answers, Task, ask_all, recalled, remember
from ..lab.variants import Laboratory, Variant
from .evidence import question_key


@dataclass(frozen=True)
class Sides:
    """The two torches; ``build`` names the installed one, and ``told`` hears how many tests are done on each."""

    laboratory: Laboratory
    build: str
    before: Variant
    after: Variant
    jobs: int
    told: Callable[[str], None]

    def ask(self, tasks: Sequence[Task], samples: int, *, anew: bool) -> tuple[Answers, Answers]:
        """What each side answers. The side before is asked once for the same torch, unless ``anew``."""
        known = {} if anew else recalled(lambda task: self._key(task, samples), tasks)
        left = [task for task in tasks if task not in known]
        jobs = max(1, self.jobs // 2) if left else self.jobs
        done = {self.before.name: len(known), self.after.name: 0}

        def ask(variant: Variant, some: Sequence[Task]) -> Answers:
            def counted(count: int) -> None:
                done[variant.name] = len(tasks) - len(some) + count
                self.told(f"{done[self.before.name]:,} of {len(tasks):,} before, {done[self.after.name]:,} after")

            return ask_all(self.laboratory, variant, some, samples, counted=counted, jobs=jobs)

        with ThreadPoolExecutor(min(2, self.jobs)) as pool:
            earlier, later = pool.submit(ask, self.before, left), pool.submit(ask, self.after, tasks)
            before, after = earlier.result(), later.result()
        if not anew:
            remember(lambda task: self._key(task, samples), before)
        return replace(before, tasks=known | before.tasks), after

    def _key(self, task: Task, samples: int) -> str:
        return question_key([self.before.identity.encode(), self.build.encode(), repr((task, samples)).encode()])
