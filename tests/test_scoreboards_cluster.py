"""The simulation of more workers than this machine has."""

from __future__ import annotations

from scoreboards.cluster import lines, makespan
from symfix.codemods.workflows.hunt.failure import Operator


def test_a_task_goes_to_the_worker_that_is_free_first() -> None:
    assert makespan([3.0, 1.0, 1.0, 1.0], 1) == 6.0
    assert makespan([3.0, 1.0, 1.0, 1.0], 2) == 3.0
    assert makespan([1.0, 1.0, 3.0], 2) == 4.0, "in their order, not the longest first"
    assert makespan([3.0, 1.0], 128) == 3.0


def test_the_limit_is_named() -> None:
    times = {Operator(f"op{number}"): 1.0 for number in range(7)} | {Operator("slow"): 20.0}
    *_, last = lines(20.0, 10.0, 2.0, times)
    assert last == "no number of workers is faster than the longest task, 25 s: op4, op5, op6, slow"
