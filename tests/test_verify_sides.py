"""Tests of the requests to torch before and after a change."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from symfix.codemods.harness.opinfo_runner import REGISTERED, Answer, Answers, Task
from symfix.codemods.harness.process_limits import Limits
from symfix.codemods.harness.torch_variant import Harness, Variant
from symfix.codemods.verify import before_after
from symfix.codemods.verify.before_after import Side, Sides

HELD, EAGER = ("hsplit", REGISTERED), ("hsplit", "eager")


@pytest.mark.parametrize(
    ("after", "asked"),
    [
        (Answer(samples=({"passed": True}, {"passed": True}), seconds=3.0), [EAGER]),
        (Answer(samples=({"passed": True}, {"passed": False}), seconds=3.0), [EAGER, HELD]),
        (Answer(crashed="the process ended by signal SIGSEGV"), [EAGER, HELD]),
        (Answer(missing="torch has no test of this name"), [EAGER]),
    ],
    ids=["the same", "another result", "died", "no test"],
)
def test_kernels_are_held_against_each_other_before_a_change_where_they_differ_after_it(
    after: Answer, asked: list[Task], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = Answer(samples=({"passed": True}, {"passed": True}))
    log: dict[str, list[Task]] = {"before": [], "after": []}

    def answered(laboratory: Harness, variant: Variant, tasks: Sequence[Task], *_: Any, **__: Any) -> Answers:
        log[variant.name] += tasks
        return Answers({task: after if variant.name == "after" and task == HELD else before for task in tasks})

    monkeypatch.setattr(before_after, "ask_all", answered)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    laboratory = Harness(tmp_path, tmp_path, Limits())
    both = Sides("torch", *(Side(laboratory, Variant(name)) for name in ("before", "after")), 2, lambda _: None)
    for anew in (False, True):
        then, now = both.ask([HELD, EAGER], 4, anew=anew)
        assert now.tasks == {HELD: after, EAGER: before}
        assert then.tasks == {EAGER: before, HELD: before if HELD in asked else after}
    again = [task for task in asked if task == EAGER or HELD in asked]
    assert log == {"before": [*asked, *again], "after": [HELD, EAGER] * 2}
