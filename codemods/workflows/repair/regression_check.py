"""Regression check with all proven repairs together: passing operators, and results on concrete sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from ...harness.opinfo_runner import Answer, Task, ask_all, recalled, remember
from ...harness.torch_variant import Harness, Variant
from ...torchapi.torch_finder import TorchInstallation
from ...verify.before_after import answer_key
from ...verify.change import Check
from ...verify.compare.comparison import compare
from ...verify.evidence import installed
from ..hunt.failure import Operator
from ..hunt.sweep import HuntRequest, HuntSession, Sweep, sweep


def no_longer_passing(
    before: Sweep,
    changed: Variant,
    laboratory: Harness,
    jobs: int,
    counted: Callable[[int, int], None],
) -> list[str]:
    """Return the operators that pass on the installed torch and not on the changed one, with the reasons."""
    request = HuntRequest(before.passed, before.protocol, before.kind)
    after = sweep(request, HuntSession(changed, laboratory, jobs=jobs), counted)
    reasons = {str(failure.operator): failure.message for failure in after.failures}
    reasons |= {str(operator): why for operator, why in after.untestable.items()}
    return [f"{before.protocol} {name}: {why}" for name, why in sorted(reasons.items())]


def no_longer_equal(
    operators: Sequence[Operator],
    changed: Variant,
    laboratory: Harness,
    place: TorchInstallation,
    jobs: int,
    progress: Callable[[str], None],
) -> tuple[list[str], int]:
    """Return the differences to the torch at ``place`` on concrete sizes, and the number of compared operators."""
    names = sorted({operator.name for operator in operators})
    tasks: list[Task] = [(name, "eager") for name in names]
    progress(f"comparing {len(names)} operators on concrete sizes")
    # Most operators of a proof have cached results for the torch before its change.
    before = _asked(laboratory, Variant("installed", identity=installed(place.package)), place.build, tasks, jobs)
    after = _asked(laboratory, changed, place.build, tasks, jobs)
    found: list[str] = []
    compared = 0
    for task in tasks:
        check = compare(task, before[task], after[task]) if task in before and task in after else None
        compared += check is not None
        if check is not None and check.lost and not _flaky(task, check, changed, laboratory):
            found.append(f"eager {task[0]}: {check.after.message}")
    return found, compared


def _asked(
    laboratory: Harness, variant: Variant, build: str, tasks: Sequence[Task], jobs: int
) -> Mapping[Task, Answer]:
    key = partial(answer_key, variant, build)

    known = recalled(key, tasks)
    answers = ask_all(laboratory, variant, [task for task in tasks if task not in known], jobs=jobs)
    remember(key, answers)
    return known | answers.tasks


def _flaky(task: Task, check: Check, changed: Variant, laboratory: Harness) -> bool:
    """Return whether the difference does not reproduce when both sides are run again."""
    before = ask_all(laboratory, Variant("installed"), [task]).tasks[task]
    after = ask_all(laboratory, changed, [task]).tasks[task]
    again = compare(task, before, after)
    return again is None or not again.lost
