"""Comparison of the operator tests of two sides, in which a difference counts only if it reproduces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..harness.opinfo_runner import DECOMPOSED, DECOMPOSED_TWICE, Answers, Task
from .before_after import Sides
from .change import Check
from .compare.comparison import compare

_CONFIRMATIONS = 2
_THOROUGH = {DECOMPOSED: DECOMPOSED_TWICE}
"""Protocol that replaces another when a test is run again because the sides differ."""

Checks = dict[Task, Check]


class BrokenSide(Exception):
    """Error raised when a side does not load. ``str()`` is the reason."""

    def __init__(self, number: int, said: str) -> None:
        super().__init__(said)
        self.number = number
        """Index of the side: 0 before, 1 after."""


def compared(sides: Sides, tasks: Sequence[Task], samples: int, *, again: bool = False) -> tuple[Checks, Answers]:
    """Return the check of each task with comparable results, and the answers of the side after.

    With ``again``, both sides run without cached answers, each protocol at its most thorough. Raises BrokenSide.
    """
    asked = {task: (task[0], _THOROUGH.get(task[1], task[1])) if again else task for task in tasks}
    answers = sides.ask([*asked.values()], samples, anew=again)
    for number, side in enumerate(answers):
        if side.broken:
            raise BrokenSide(number, side.broken)
    found = {task: compare(task, *(side.tasks[name] for side in answers)) for task, name in asked.items()}
    return {task: check for task, check in found.items() if check is not None}, answers[1]


def confirmed(first: Checks, sides: Sides, samples: int, progress: Callable[[str], None] = lambda _: None) -> Checks:
    """Run the doubtful ones among the checks of `compared` again, and return all checks.

    A task of a cheap protocol that was lost is first run under its thorough one. Raises BrokenSide.
    """
    checks = dict(first)
    unlike = [task for task, check in checks.items() if check.lost and task[1] in _THOROUGH]
    if unlike:
        checks |= compared(sides, unlike, samples, again=True)[0]
    for _ in range(_CONFIRMATIONS):
        doubtful = [task for task, check in checks.items() if _doubtful(check)]
        if not doubtful:
            break
        progress(f"running {len(doubtful)} again that went worse or died")
        again, _answers = compared(sides, doubtful, samples, again=True)
        for task in doubtful:
            if task in again and checks[task].unjudged:
                checks[task] = again[task]
            elif task in again and (again[task].lost, again[task].gained) != (checks[task].lost, checks[task].gained):
                checks[task] = replace(checks[task], flaky=True)
    return checks


def _doubtful(check: Check) -> bool:
    """Return whether a difference counts only if it reproduces."""
    return not check.flaky and (check.lost or check.unjudged or (check.gained and check.before.crashed))
