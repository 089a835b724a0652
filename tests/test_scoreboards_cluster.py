"""Tests of the simulation of more workers than this machine has."""

from __future__ import annotations

from scoreboards.cluster import lines, makespan
from symfix.codemods.workflows.hunt.failure import Operator


def test_a_task_goes_to_the_worker_that_is_free_first() -> None:
    assert makespan([3.0, 1.0, 1.0, 1.0], 1) == 6.0
    assert makespan([3.0, 1.0, 1.0, 1.0], 2) == 3.0
    assert makespan([1.0, 1.0, 3.0], 2) == 4.0, "in their order, not the longest first"
    assert makespan([3.0, 1.0], 128) == 3.0
    assert makespan([3.0, 1.0, 1.0, 1.0], 2, start=4.0) == 7.0, "each worker starts once"


def test_the_limit_is_named() -> None:
    times = {Operator(f"op{number}"): 1.0 for number in range(7)} | {Operator("slow"): 20.0}
    said = list(lines(29.0, 17.0, 2.0, 0.5, times))
    assert said[-1] == "no number of workers is faster than a start and the longest task, 22 s: slow"
    assert said[1] == "a hunt of 8 operators, simulated: 2.0 s of each worker to start, 0.50 s of each task"
    one, *_ = (line.split() for line in said[2].splitlines()[1:])
    assert one == ["1", "0.6", "1.0", "100", "%"], "2 + 8 * 0.5 + 7 + 20 seconds"
