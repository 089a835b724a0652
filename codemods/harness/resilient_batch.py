"""Batched runs of a child script: one process handles many items, and a crash fails only the current item."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from ..engine.run import default_jobs
from ..system.cluster import WorkerLost
from .process_limits import GIB, Ended, Limits
from .process_limits import lost as died_far
from .temp_folder import new_name
from .torch_variant import Harness, Variant

_MEMORY_OF_A_CHILD = 2 * GIB
_WATCH_SECONDS = 1.0
_MOST_AT_ONCE = 512
"""Maximum number of processes to wait for at a time."""

Item = TypeVar("Item", bound=Hashable)
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class BatchReport(Generic[Item, Answer]):
    """Parsed report of one process: whether it became ready, the last item it began, and its answers."""

    ready: bool
    begun: Item | None
    answers: Mapping[Item, Answer]


def children(jobs: int | None) -> int:
    """Return the number of children with torch that run at a time: ``jobs``, or what processors and memory allow."""
    return jobs if jobs is not None else max(1, min(default_jobs(), memory_for()))


def memory_for() -> int:
    """Return the number of children with torch that fit into the memory of this machine."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // _MEMORY_OF_A_CHILD


def rows(report: Path) -> list[dict[str, Any]]:
    """Return the complete lines of a report, each a JSON object. A line that was cut off is skipped."""
    found = []
    for line in report.read_bytes().splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def limits_for(limits: Limits, count: int, start_seconds: int) -> Limits:
    """Return the limits of a process for ``count`` items, given the limits of one. Only the time limits are scaled."""
    return replace(limits, wall=limits.wall * count + start_seconds, cpu=limits.cpu * count + start_seconds)


@contextmanager
def watched(counted: Callable[[int], None] | None, mark: bytes) -> Iterator[Callable[[Path], None]]:
    """Call ``counted`` with the number of occurrences of ``mark`` in the registered reports, each time that it changes.

    Yield the function that registers a report. Nothing is counted if ``counted`` is None.
    """
    reports: list[Path] = []
    over = threading.Event()

    def watch() -> None:
        last: int | None = None
        while counted is not None and not over.wait(_WATCH_SECONDS):
            with suppress(OSError):
                count = sum(report.read_bytes().count(mark) for report in reports)
                if count != last:
                    counted(last := count)

    if counted is not None:
        threading.Thread(target=watch, daemon=True).start()
    try:
        yield reports.append
    finally:
        over.set()


@dataclass(frozen=True)
class Batch(Generic[Item, Answer]):
    """Questions about many items for one child script."""

    child: str
    request: Callable[[Sequence[Item]], Mapping[str, Any]]
    """Returns the request about some items."""
    parse_report: Callable[[list[dict[str, Any]], Ended], BatchReport[Item, Answer]]
    on_crash: Callable[[Item, Ended], Answer]
    """Makes the answer about an item whose process died."""
    limits: Callable[[int], Limits]
    """Returns the limits of a process for a number of items."""
    on_answer: Callable[[Item], None] = lambda _: None
    remaining: Callable[[Sequence[Item]], Sequence[Item]] = lambda items: items
    """Filters the items without an answer, for processes that share a list."""
    on_report: Callable[[Path], None] = lambda _: None
    """Called with each report before it is written."""

    def run(
        self, laboratory: Harness, variant: Variant, items: Sequence[Item]
    ) -> tuple[dict[Item, Answer], Ended | None]:
        """Return the answers about ``items``, and the end of a process that could not begin (None if each could)."""
        answers: dict[Item, Answer] = {}
        pending = list(items)
        while self.remaining(pending):
            report = laboratory.scratch / new_name("report")
            report.touch()
            self.on_report(report)
            asked = {"patience": laboratory.limits.wall, **self.request(pending)}
            try:
                ended, _ = laboratory.ask(self.child, variant, asked, report, self.limits(len(pending)))
            except WorkerLost as gone:
                return {**answers, **self._run_alone(laboratory, variant, pending, gone)}, None
            heard = self.parse_report(rows(report), ended)
            if not heard.ready:
                return answers, ended
            for item in [item for item in pending if item in heard.answers]:
                answers[item] = heard.answers[item]
                self.on_answer(item)
            pending = [item for item in pending if item not in answers]
            stuck = None if heard.answers else next(iter(self.remaining(pending)), None)
            if stuck is not None and heard.begun is None and not answers:
                return answers, ended
            victim = heard.begun if heard.begun in pending else stuck
            if victim is not None:
                answers[victim] = self.on_crash(victim, ended)
                self.on_answer(victim)
                pending.remove(victim)
        return answers, None

    def _run_alone(
        self, laboratory: Harness, variant: Variant, items: Sequence[Item], gone: WorkerLost
    ) -> dict[Item, Answer]:
        """Return the answers of a process for each item, after the workers died that ran them together."""
        if len(items) == 1:
            self.on_answer(items[0])
            return {items[0]: self.on_crash(items[0], died_far(self.child, f"the workers that ran it died ({gone})"))}
        alone = replace(self, remaining=lambda items: items, on_report=lambda _: None)
        return {one: answer for item in items for one, answer in alone.run(laboratory, variant, [item])[0].items()}

    def run_shared(
        self, laboratory: Harness, variant: Variant, items: Sequence[Item], jobs: int
    ) -> tuple[dict[Item, Answer], Ended | None]:
        """Run in ``jobs`` processes that share ``items``: each process takes the next unclaimed item.

        The request contains the folder of the claims under ``claims``. Processes on other machines share no folder, so
        each of them gets a few items of its own. Calls of ``parse_report`` are serialized.
        """
        numbers = {item: number for number, item in enumerate(items)}
        claims: Path | None = None
        if laboratory.piece:
            # Workers have the installed torch imported, so each item can be a task of its own.
            piece = laboratory.piece if variant.modules else 1
            shares = [items[at : at + piece] for at in range(0, len(items), piece)]
        else:
            shares = [items] * min(jobs, len(items))
            claims = laboratory.scratch / new_name("claims")
            claims.mkdir()

        def asked(some: Sequence[Item]) -> Mapping[str, Any]:
            # A claim is named by the item's number in the list, so all processes need the same list.
            return self.request(some) if claims is None else {**self.request(items), "claims": str(claims)}

        def unclaimed(some: Sequence[Item]) -> Sequence[Item]:
            return some if claims is None else [one for one in some if not (claims / str(numbers[one])).exists()]

        one_at_a_time = threading.Lock()

        def parsed(said: list[dict[str, Any]], ended: Ended) -> BatchReport[Item, Answer]:
            with one_at_a_time:
                return self.parse_report(said, ended)

        share_of = replace(self, request=asked, parse_report=parsed, remaining=unclaimed)
        with ThreadPoolExecutor(max(1, min(len(shares), _MOST_AT_ONCE))) as pool:
            parts = list(pool.map(lambda share: share_of.run(laboratory, variant, share), shares))
        answers = {item: answer for part, _ in parts for item, answer in part.items()}
        return answers, next((broken for _, broken in parts if broken is not None), None)
