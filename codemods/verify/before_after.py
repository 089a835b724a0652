"""Torch before and after a change, with the same operator tests run on each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from ..harness.fork_server import forking
from ..harness.observation import Observation
from ..harness.opinfo_runner import REGISTERED, Answer, Answers, Task, ask_all, recalled, remember
from ..harness.torch_variant import Harness, Variant
from .evidence import question_key
from .request import traces


@dataclass(frozen=True)
class Side:
    """Torch to run on, with a harness that starts it quickly."""

    laboratory: Harness
    variant: Variant

    def replay(self, script: Path) -> Observation:
        """Run a script in a process of its own."""
        return self.laboratory.replay(self.variant, script).observation


def started(
    variant: Variant, laboratory: Harness, ready: Harness, processes: int, stack: ExitStack, *, scripts: bool
) -> Side:
    """Return a side whose fork server lives until ``stack`` is closed.

    ``ready`` is a fork server with the installed torch, and a fork overlays the kernels. Changed Python modules get a
    fork server that was started with them.
    """
    if not variant.modules:
        return Side(ready, variant)
    laid = Variant("laid", modules=variant.modules, wanted=variant.wanted)
    kept = forking(laboratory, processes, laid=laid, scripts=scripts)
    return Side(stack.enter_context(kept), variant)


@dataclass(frozen=True)
class Sides:
    """Torch before and after. ``build`` identifies the installed torch, and ``told`` is called with the progress."""

    build: str
    before: Side
    after: Side
    jobs: int
    told: Callable[[str], None]

    def ask(self, tasks: Sequence[Task], samples: int, *, anew: bool) -> tuple[Answers, Answers]:
        """Run the tasks on both sides, and return the answers. Those of the side before are cached unless ``anew``.

        The protocol `registered` compares kernels of one torch with each other. It runs on the side before only if
        those of the side after differ, which may be chance. Otherwise the side before gets the same answer.
        """
        known = {} if anew else recalled(lambda task: self._key(task, samples), tasks)
        left = [task for task in tasks if task not in known]
        at_first = [task for task in left if task[1] != REGISTERED]
        jobs = max(1, self.jobs // 2) if at_first else self.jobs
        done = {"before": len(tasks) - len(at_first), "after": 0}

        def ask(side: Side, some: Sequence[Task]) -> Answers:
            def counted(count: int) -> None:
                done[side.variant.name] = len(tasks) - len(some) + count
                self.told(f"{done['before']:,} of {len(tasks):,} before, {done['after']:,} after")

            return ask_all(side.laboratory, side.variant, some, samples, counted=counted, jobs=jobs)

        with ThreadPoolExecutor(min(2, self.jobs)) as pool:
            earlier, later = pool.submit(ask, self.before, at_first), pool.submit(ask, self.after, tasks)
            before, after = earlier.result(), later.result()
        held = {task: after.tasks[task] for task in left if task[1] == REGISTERED and task in after.tasks}
        doubtful = [task for task, answer in held.items() if answer.crashed or not _all_passed(answer)]
        if doubtful:
            chance = ask(self.before, doubtful)
            before = replace(chance, tasks=before.tasks | chance.tasks)
        if not anew:
            remember(lambda task: self._key(task, samples), before)
        return replace(before, tasks=held | known | before.tasks), after

    def _key(self, task: Task, samples: int) -> str:
        return answer_key(self.before.variant, self.build, task, samples)


def _all_passed(answer: Answer) -> bool:
    return all(sample["passed"] for sample in answer.samples)


def answer_key(variant: Variant, build: str, task: Task, samples: int = 0) -> str:
    """Return the cache key of a variant's answer on the torch ``build``.

    It includes ``samples`` if the protocol traces.
    """
    asked = repr((task, samples if traces(task) else 0))
    return question_key([variant.identity.encode(), build.encode(), asked.encode()])
