"""All proven repairs at once: does what passed still pass, and is every result on concrete sizes the same?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from ...lab.operators import Answer, Answers, Task, ask_all, recalled
from ...lab.variants import Laboratory, Variant
from ...verify.change import Check
from ...verify.compare.comparing import compare
from ...verify.evidence import question_key
from ..hunt.failure import Operator
from ..hunt.sweep import Sweep, sweep


def no_longer_passing(
    before: Sweep,
    changed: Variant,
    laboratory: Laboratory,
    jobs: int,
    counted: Callable[[int, int], None],
) -> list[str]:
    """What passed its protocol on the installed torch and does not on the changed one, with the reason."""
    after = sweep(
        before.passed,
        before.protocol,
        kind=before.kind,
        variant=changed,
        laboratory=laboratory,
        jobs=jobs,
        progress=counted,
    )
    reasons = {str(failure.operator): failure.message for failure in after.failures}
    reasons |= {str(operator): why for operator, why in after.untestable.items()}
    return [f"{before.protocol} {name}: {why}" for name, why in sorted(reasons.items())]


def no_longer_equal(
    operators: Sequence[Operator],
    changed: Variant,
    laboratory: Laboratory,
    build: str,
    jobs: int,
    progress: Callable[[str], None],
) -> tuple[list[str], int]:
    """What differs on concrete sizes, with how, and how many operators were compared."""
    names = sorted({operator.name for operator in operators})
    tasks: list[Task] = [(name, "eager") for name in names]
    progress(f"comparing {len(names)} operators on concrete sizes")
    shares = [tasks[number::jobs] for number in range(jobs)]
    before = _asked(laboratory, Variant("installed", identity=f"installed {build}"), shares)
    after = _asked(laboratory, changed, shares)
    found: list[str] = []
    compared = 0
    for task in tasks:
        check = compare(task, before[task], after[task]) if task in before and task in after else None
        compared += check is not None
        if check is not None and check.lost and not _flaky(task, check, changed, laboratory):
            found.append(f"eager {task[0]}: {check.after.message}")
    return found, compared


def _asked(laboratory: Laboratory, variant: Variant, shares: Sequence[list[Task]]) -> Mapping[Task, Answer]:
    def ask(share: list[Task]) -> Answers:
        key = question_key([variant.identity.encode(), repr(share).encode()])
        return recalled(key, share, lambda: ask_all(laboratory, variant, share))

    with ThreadPoolExecutor(len(shares)) as pool:
        return {task: answer for part in pool.map(ask, shares) for task, answer in part.tasks.items()}


def _flaky(task: Task, check: Check, changed: Variant, laboratory: Laboratory) -> bool:
    """Does it not come again when both sides are run again?"""
    before = ask_all(laboratory, Variant("installed"), [task]).tasks[task]
    after = ask_all(laboratory, changed, [task]).tasks[task]
    again = compare(task, before, after)
    return again is None or not again.lost
