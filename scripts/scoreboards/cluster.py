"""One worker of a dask cluster against two on this machine, and what more workers would give.

Hunts some operators with one single-threaded worker process, then with two, each from nothing. The makespan for more
workers is simulated from the time that each operator took in a hunt of all: tasks go out in their order, each to the
worker that is free first, as the scheduler gives them.
"""

from __future__ import annotations

import argparse
import heapq
import statistics
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from distributed import LocalCluster
from symfix.codemods.engine.cluster import cluster
from symfix.codemods.lab.scratch import scratch_folder
from symfix.codemods.workflows.hunt.failure import Operator
from symfix.codemods.workflows.hunt.far import AT_ONCE
from symfix.codemods.workflows.hunt.journal import Journal
from symfix.codemods.workflows.hunt.sweep import sweep

from .table import table, write_json

WORKERS = (1, 2, 8, 32, 128)


def measured(operators: Sequence[Operator], workers: int, scratch: Path) -> tuple[float, dict[Operator, float]]:
    """The seconds of a hunt by so many workers, and of each operator in it."""
    journal = scratch / f"{workers}.jsonl"
    with LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None) as found:
        address = found.scheduler_address.replace("tcp://", "dask://")
        with cluster(address) as executor:
            # The first task of a worker imports symfix.
            sweep(operators[:1], executor=executor, journal=scratch / f"{workers}.first.jsonl")
            seconds = sweep(operators, executor=executor, journal=journal).seconds
    return seconds, times(journal)


def times(journal: Path) -> dict[Operator, float]:
    """The seconds that each operator took, its process's start left out."""
    return {operator: row.get("seconds", 0.0) for operator, row in Journal(journal).rows.items()}


def makespan(tasks: Sequence[float], workers: int) -> float:
    """When the last task ends, each given in order to the worker that is free first."""
    free = [0.0] * workers
    for seconds in tasks:
        heapq.heapreplace(free, free[0] + seconds)
    return max(free)


def lines(one: float, two: float, start: float, every: dict[Operator, float]) -> Iterator[str]:
    """The measured ratio, the table of the simulation, and what limits it."""
    yield f"one worker {one:.0f} s, two {two:.0f} s: {one / two:.2f} times as fast"
    names = list(every)
    parts = [names[at : at + AT_ONCE] for at in range(0, len(names), AT_ONCE)]
    tasks = [start + sum(every[name] for name in part) for part in parts]
    yield f"a hunt of {len(names)} operators, simulated: {len(tasks)} tasks, {start:.1f} s of each to import torch"
    rows: list[tuple[object, ...]] = [("workers", "minutes", "times as fast", "busy")]
    total = sum(tasks)
    for workers in WORKERS:
        end = makespan(tasks, workers)
        rows.append((workers, f"{end / 60:.1f}", f"{total / end:.1f}", f"{100 * total / end / workers:.0f} %"))
    yield table(rows, indent="  ")
    longest = max(range(len(tasks)), key=tasks.__getitem__)
    inside = ", ".join(map(str, parts[longest]))
    yield f"no number of workers is faster than the longest task, {tasks[longest]:.0f} s: {inside}"


def main() -> int:
    """Measure, simulate, print; the exit code is 0."""
    parser = argparse.ArgumentParser(
        prog="scripts/cluster-bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--operators", type=int, default=64, help="how many operators the workers hunt [64]")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    words = parser.parse_args()
    with scratch_folder() as scratch:
        journal = scratch / "all.jsonl"
        print("a hunt of all operators, for their times", file=sys.stderr)
        sweep(journal=journal)
        every = times(journal)
        names = list(every)
        some = names[:: max(1, len(names) // words.operators)][: words.operators]
        one, alone = measured(some, 1, scratch)
        two, _ = measured(some, 2, scratch)
    start = (one - sum(alone.values())) / -(-len(some) // AT_ONCE)
    for line in lines(one, two, start, every):
        print(line)
    figures = {"one": one, "two": two, "start": start, "median": statistics.median(every.values())}
    print(f"figures: {write_json('cluster-bench', words.json, figures)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
