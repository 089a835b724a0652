"""Operator tests of two sides, compared; a difference is believed when it comes again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..lab.operators import DECOMPOSED, DECOMPOSED_TWICE, Answers, Task
from .change import Check
from .compare.comparing import compare
from .sides import Sides

_CONFIRMATIONS = 2
_THOROUGH = {DECOMPOSED: DECOMPOSED_TWICE}
"""How a protocol is asked again where the sides give other results."""

Checks = dict[Task, Check]


class BrokenSide(Exception):
    """A side could not even be loaded; ``str()`` says why."""

    def __init__(self, number: int, said: str) -> None:
        super().__init__(said)
        self.number = number
        """0: the side before, 1: the side after."""


def compared(sides: Sides, tasks: Sequence[Task], samples: int, *, again: bool = False) -> tuple[Checks, Answers]:
    """The check of each task on which there is something to compare, and what the side after answered.

    ``again``: both sides are asked anew, each protocol as thoroughly as there is. Raises BrokenSide.
    """
    asked = {task: (task[0], _THOROUGH.get(task[1], task[1])) if again else task for task in tasks}
    answers = sides.ask([*asked.values()], samples, anew=again)
    for number, side in enumerate(answers):
        if side.broken:
            raise BrokenSide(number, side.broken)
    found = {task: compare(task, *(side.tasks[name] for side in answers)) for task, name in asked.items()}
    return {task: check for task, check in found.items() if check is not None}, answers[1]


def confirmed(first: Checks, sides: Sides, samples: int, progress: Callable[[str], None] = lambda _: None) -> Checks:
    """The checks of `compared` once more: what was asked cheaply, and then what is doubtful; raises BrokenSide."""
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
    """Whether a difference is believed only when it comes again."""
    return not check.flaky and (check.lost or check.unjudged or (check.gained and check.before.crashed))
