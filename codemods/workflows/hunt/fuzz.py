"""Random calls around the samples of torch's OpInfos, which find failures that no sample shows."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...harness.opinfo_runner import OPERATORS
from ...harness.process_limits import Ended, Limits, children_digest
from ...harness.resilient_batch import Batch, BatchReport, limits_for, rows, watched
from ...harness.temp_folder import scratch_folder
from ...harness.torch_variant import Harness, Variant
from ...torchapi.torch_finder import locate
from .failure import Failure, Mode, Operator
from .failure_attribution import DIED
from .journal import HuntJournal, Row
from .operator_names import operators_of, resolve
from .sweep import Sweep, collect, default_journal
from .workers import NothingRuns

PROTOCOL = "fuzz"
_INSTALLED = Variant("installed", identity="installed")
_SECONDS = 60
"""Time limit for drawing plans of one operator, and for shrinking one failure."""
_START_SECONDS = 180
_TELLING = 60
"""Number of leading characters of a message that distinguish errors without a place."""


@dataclass(frozen=True)
class Fuzz:
    """Options: ``examples`` calls of each operator, drawn from ``seed``. No operator is begun after ``minutes``."""

    examples: int
    seed: int = 0
    minutes: float = 60.0


@dataclass(frozen=True)
class FuzzFailures:
    """Failures at places where no sample fails."""

    sweep: Sweep
    calls: int
    known: int
    """Number of failures at places where samples of torch also fail, or that repeat another operator's failure."""
    late: tuple[Operator, ...] = ()
    """Operators for which the time was over before they were tried."""


def fuzz(
    words: Sequence[str],
    asked: Fuzz,
    samples: Sweep,
    *,
    torch_python: Path | None = None,
    jobs: int = 2,
    fresh: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> FuzzFailures:
    """Draw calls of the operators that ``words`` name, and shrink the failing ones.

    Without ``words`` all operators that pass on their own samples are drawn. ``samples`` is the sweep over torch's own
    samples. Results of the same seed are reused unless ``fresh``. Raises UnknownOperator, and NothingRuns when torch's
    tests or hypothesis can't be loaded.
    """
    started = time.monotonic()
    torch = locate(None, torch_python)
    with ExitStack() as stack:
        scratch = stack.enter_context(scratch_folder())
        laboratory = Harness(torch.python, scratch, Limits(wall=_SECONDS * 20, cpu=_SECONDS * 20))
        wanted = resolve(words, operators_of(laboratory, torch)) if words else sorted(samples.passed)
        question = {"protocol": PROTOCOL, "examples": asked.examples, "seed": asked.seed, "seconds": _SECONDS}
        kept = HuntJournal(
            default_journal(torch, _INSTALLED, {**question, "kind": OPERATORS, "code": children_digest()})
        )
        if fresh:
            kept.forget()
        left = [operator for operator in wanted if operator not in kept.rows]
        late = _run(laboratory, left, question, asked.minutes, jobs, kept, progress)
    told = {operator: kept.rows[operator] for operator in wanted if operator in kept.rows}
    seconds = round(time.monotonic() - started, 2)
    found = replace(collect(told, PROTOCOL, torch, _INSTALLED), seconds=seconds, recalled=len(wanted) - len(left))
    new = tuple(_told_once(_unknown(found.failures, samples.failures)))
    failing = {failure.operator for failure in new}
    passed = tuple(one for one in told if one not in failing and one not in found.untestable)
    return FuzzFailures(
        replace(found, failures=new, passed=passed),
        sum(row["tried"] for row in told.values()),
        len(found.failures) - len(new),
        tuple(late),
    )


def _run(
    laboratory: Harness,
    operators: Sequence[Operator],
    question: dict[str, Any],
    minutes: float,
    jobs: int,
    kept: HuntJournal,
    progress: Callable[[int, int], None],
) -> list[Operator]:
    """Fuzz the operators, record each row, and return the operators that were not begun in time.

    An operator whose process died is run again, with each call in its own process.
    """
    late: list[Operator] = []
    died: list[Operator] = []
    reports: list[Path] = []
    progress(0, len(operators))

    def keep(row: Row) -> None:
        if not row.get("late") and kept.rows.get(Operator(*row["operator"])) != row:
            kept.add(row)

    def hear(said: list[Row], ended: Ended) -> BatchReport[Operator, Row]:
        begun: Operator | None = None
        answers: dict[Operator, Row] = {}
        for row in said:
            if "start" in row:
                begun = Operator(*row["start"])
            elif "operator" in row:
                operator = Operator(*row["operator"])
                answers[operator] = row
                if row.get("late"):
                    late.append(operator)
                keep(row)
        return BatchReport(any("swaps" in row for row in said), begun, answers)

    def lost(operator: Operator, ended: Ended) -> Row:
        row = {"operator": [operator.name, operator.variant], "tried": 0, "failures": [], "untestable": ""}
        died.append(operator)
        kept.add({**row, "crashed": ended.died or f"exit {ended.code}"})
        return row

    def ask(some: Sequence[Operator], apart: bool, until: float) -> None:
        request = {
            **question,
            "apart": apart,
            "operators": [[one.name, one.variant] for one in some],
            "until": until,
        }
        _, broken = Batch(
            "fuzz_runner",
            request=lambda _: request,
            parse_report=hear,
            on_crash=lost,
            limits=lambda count: limits_for(laboratory.limits, count, _START_SECONDS),
            on_report=opened,
        ).run_shared(laboratory, _INSTALLED, some, jobs)
        if broken is not None:
            raise NothingRuns(laboratory.python, broken)

    with watched(lambda done: progress(min(done, len(operators)), len(operators)), b'"tried"') as watch:

        def opened(report: Path) -> None:
            reports.append(report)
            watch(report)

        try:
            ask(operators, False, time.time() + 60 * minutes)
            if died:
                ask(tuple(died), True, math.inf)
        finally:
            # An interrupted run keeps the rows that its children have written.
            for row in (row for report in reports for row in rows(report) if "operator" in row):
                keep(row)
    progress(len(operators), len(operators))
    return late


def _unknown(failures: Iterable[Failure], known: Iterable[Failure]) -> list[Failure]:
    """Return the failures at places where no known failure is, nor one behind a test's own code."""
    places = {_where(one) for failure in known for one in (failure, failure.behind) if one is not None}
    return [one for one in failures if one.place is None or _where(one) not in places]


def _told_once(failures: Iterable[Failure]) -> Iterable[Failure]:
    """Yield the first failure of each place and undecided expression. Crashes and deviations are all kept."""
    seen: set[tuple[object, ...]] = set()
    for one in failures:
        asked = one.expression if one.place else one.message[:_TELLING]
        key = (_where(one), asked.translate(_NO_DIGITS))
        if one.why == DIED or one.mode is Mode.DEVIATION or key not in seen:
            seen.add(key)
            yield one


_NO_DIGITS = {ord(digit): None for digit in "0123456789"}


def _where(failure: Failure) -> tuple[str, int, str] | None:
    place = failure.place
    return None if place is None else (place.file, place.line, place.function)
