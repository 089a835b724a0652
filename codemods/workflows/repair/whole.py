"""All proven repairs at once: does what passed still pass, and is every result on concrete sizes the same?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...lab.operators import Answer, Task, ask_all, recalled, remember
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
    before = _asked(laboratory, Variant("installed", identity=f"installed {build}"), tasks, jobs)
    after = _asked(laboratory, changed, tasks, jobs)
    found: list[str] = []
    compared = 0
    for task in tasks:
        check = compare(task, before[task], after[task]) if task in before and task in after else None
        compared += check is not None
        if check is not None and check.lost and not _flaky(task, check, changed, laboratory):
            found.append(f"eager {task[0]}: {check.after.message}")
    return found, compared


def _asked(laboratory: Laboratory, variant: Variant, tasks: Sequence[Task], jobs: int) -> Mapping[Task, Answer]:
    def key(task: Task) -> str:
        return question_key([variant.identity.encode(), repr(task).encode()])

    known = recalled(key, tasks)
    answers = ask_all(laboratory, variant, [task for task in tasks if task not in known], jobs=jobs)
    remember(key, answers)
    return known | answers.tasks


def _flaky(task: Task, check: Check, changed: Variant, laboratory: Laboratory) -> bool:
    """Does it not come again when both sides are run again?"""
    before = ask_all(laboratory, Variant("installed"), [task]).tasks[task]
    after = ask_all(laboratory, changed, [task]).tasks[task]
    again = compare(task, before, after)
    return again is None or not again.lost
