"""Comparison of one worker of a dask cluster with two on this machine, and a simulation of more workers.

Some operators are hunted with one single-threaded worker process, then with two, each without a journal. The makespan
for more workers is simulated from the time of each operator in a hunt of all. The simulation adds the measured overhead
of one worker for its start and for each task. Every worker starts once, and tasks are distributed in order, each to the
first free worker, as the scheduler does.
"""

from __future__ import annotations

import argparse
import heapq
import statistics
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from distributed import LocalCluster
from symfix.codemods.harness.temp_folder import scratch_folder
from symfix.codemods.system.cluster import cluster
from symfix.codemods.workflows.hunt.failure import Operator
from symfix.codemods.workflows.hunt.journal import HuntJournal
from symfix.codemods.workflows.hunt.sweep import HuntRequest, HuntSession, sweep

from .table import table, write_json

WORKERS = (1, 2, 8, 32, 128)


def measured(operators: Sequence[Operator], workers: int, journal: Path) -> float:
    """Measure the seconds of a hunt with a number of workers that have imported nothing yet."""
    with LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None) as found:
        address = found.scheduler_address.replace("tcp://", "dask://")
        with cluster(address) as executor:
            return sweep(HuntRequest(operators), HuntSession(executor=executor, journal=journal)).seconds


def times(journal: Path) -> dict[Operator, float]:
    """Return the seconds of each operator, without the start of its process."""
    return {operator: row.get("seconds", 0.0) for operator, row in HuntJournal(journal).rows.items()}


def makespan(tasks: Sequence[float], workers: int, start: float = 0.0) -> float:
    """Return the end time of the last task, if each task goes in order to the first free worker that has started."""
    free = [start] * workers
    for seconds in tasks:
        heapq.heapreplace(free, free[0] + seconds)
    return max(free)


def lines(one: float, two: float, start: float, beside: float, every: dict[Operator, float]) -> Iterator[str]:
    """Yield the measured ratio, the table of the simulation, and its limit.

    ``start`` is the start time of a worker. ``beside`` is the overhead of a task.
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
    """Measure, simulate and print. The exit code is 0."""
    parser = argparse.ArgumentParser(
        prog="scripts/cluster-bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--operators", type=int, default=256, help="how many operators the workers hunt [256]")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    words = parser.parse_args()
    with scratch_folder() as scratch:
        journal = scratch / "all.jsonl"
        print("a hunt of all operators, for their times", file=sys.stderr)
        sweep(HuntRequest(), HuntSession(journal=journal))
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
