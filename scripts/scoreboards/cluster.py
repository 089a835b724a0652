"""One worker of a dask cluster against two on this machine, and what more workers would give.

Hunts some operators with one single-threaded worker process, then with two, each from nothing. The makespan for more
workers is simulated from the time that each operator took in a hunt of all, and from what one worker took longer for
its start and for each task: every worker starts once, and tasks go out in their order, each to the worker that is free
first, as the scheduler gives them.
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
from symfix.codemods.workflows.hunt.journal import Journal
from symfix.codemods.workflows.hunt.sweep import sweep

from .table import table, write_json

WORKERS = (1, 2, 8, 32, 128)


def measured(operators: Sequence[Operator], workers: int, journal: Path) -> float:
    """The seconds of a hunt by so many workers, which have imported nothing yet."""
    with LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None) as found:
        address = found.scheduler_address.replace("tcp://", "dask://")
        with cluster(address) as executor:
            return sweep(operators, executor=executor, journal=journal).seconds


def times(journal: Path) -> dict[Operator, float]:
    """The seconds that each operator took, its process's start left out."""
    return {operator: row.get("seconds", 0.0) for operator, row in Journal(journal).rows.items()}


def makespan(tasks: Sequence[float], workers: int, start: float = 0.0) -> float:
    """When the last task ends, each given in order to the worker that is free first, once that has started."""
    free = [start] * workers
    for seconds in tasks:
        heapq.heapreplace(free, free[0] + seconds)
    return max(free)


def lines(one: float, two: float, start: float, beside: float, every: dict[Operator, float]) -> Iterator[str]:
    """The measured ratio, the table of the simulation, and what limits it.

    ``start``: of a worker; ``beside``: what a task takes beside its operator.
    """
    yield f"one worker {one:.0f} s, two {two:.0f} s: {one / two:.2f} times as fast"
    tasks = [beside + seconds for seconds in every.values()]
    taken = f"{start:.1f} s of each worker to start, {beside:.2f} s of each task"
    yield f"a hunt of {len(tasks)} operators, simulated: {taken}"
    rows: list[tuple[object, ...]] = [("workers", "minutes", "times as fast", "busy")]
    alone = makespan(tasks, 1, start)
    for workers in WORKERS:
        end = makespan(tasks, workers, start)
        busy = (sum(tasks) + start * min(workers, len(tasks))) / end / workers
        rows.append((workers, f"{end / 60:.1f}", f"{alone / end:.1f}", f"{100 * busy:.0f} %"))
    yield table(rows, indent="  ")
    longest, seconds = max(every.items(), key=lambda one: one[1])
    limit = start + beside + seconds
    yield f"no number of workers is faster than a start and the longest task, {limit:.0f} s: {longest}"


def main() -> int:
    """Measure, simulate, print; the exit code is 0."""
    parser = argparse.ArgumentParser(
        prog="scripts/cluster-bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--operators", type=int, default=256, help="how many operators the workers hunt [256]")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    words = parser.parse_args()
    with scratch_folder() as scratch:
        journal = scratch / "all.jsonl"
        print("a hunt of all operators, for their times", file=sys.stderr)
        sweep(journal=journal)
        every = times(journal)
        names = list(every)
        some = names[:: max(1, len(names) // words.operators)][: words.operators]
        seconds = [
            measured(asked, workers, scratch / f"{number}.jsonl")
            for number, (asked, workers) in enumerate([(some[:1], 1), (some, 1), (some, 2)])
        ]
    first, one, two = seconds
    start = first - every[some[0]]
    beside = max(0.0, one - start - sum(every[name] for name in some)) / len(some)
    for line in lines(one, two, start, beside, every):
        print(line)
    figures = {"one": one, "two": two, "start": start, "beside": beside, "median": statistics.median(every.values())}
    print(f"figures: {write_json('cluster-bench', words.json, figures)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
