"""Child processes that share one list of operators. A crash or a hang fails only the current operator."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

from ...harness.process_limits import Ended, Limits
from ...harness.resilient_batch import Batch, BatchReport
from ...harness.temp_folder import new_name
from ...harness.torch_variant import Harness, Variant
from .failure import Operator
from .journal import Row

_START_SECONDS = 180
_POLL_SECONDS = 0.2
_WALL = 4
"""Factor from processor time to the limit on wall time. Other processes may use the processors too."""
_TIMEOUT = "Timeout ("


class NothingRuns(Exception):
    """Failure to run torch's operator tests with ``python``. ``str()`` is the reason in one line."""

    def __init__(self, python: Path, ended: Ended) -> None:
        said = ended.died or last_words(ended)
        hint = "; install symfix[verify] there" if "ModuleNotFoundError" in said else ""
        super().__init__(f"torch's operator tests can't be run by {python}: {said}{hint}")


class Workers:
    """Runner of operators on ``variant`` in ``jobs`` processes."""

    def __init__(self, laboratory: Harness, variant: Variant, jobs: int) -> None:
        self._laboratory = laboratory
        self._variant = variant
        self._jobs = max(1, jobs)
        self._reports: list[_Report] = []
        self._failures: list[Exception] = []

    def run(self, operators: Sequence[Operator], asked: Mapping[str, Any], told: Callable[[Row], None]) -> None:
        """Pass each operator's row to ``told``, in the calling thread, as soon as it arrives.

        ``asked`` is the request for the children. Raises NothingRuns.
        """
        claims = self._laboratory.scratch / new_name("claims")
        claims.mkdir()
        request = {
            "operators": [[one.name, one.variant] for one in operators],
            **asked,
            "patience": self._laboratory.limits.wall,
            "wall": _WALL * self._laboratory.limits.wall,
            "claims": str(claims),
        }
        # Daemon threads: an interrupted sweep does not wait for them, and the children die with this process.
        workers = [
            Thread(target=self._work_or_fail, args=(request, operators), daemon=True) for _ in operators[: self._jobs]
        ]
        try:
            for worker in workers:
                worker.start()
            while alive := [worker for worker in workers if worker.is_alive()]:
                alive[0].join(_POLL_SECONDS)
                self._tell(told)
            self._tell(told)
        finally:
            for number in range(len(operators)):
                (claims / str(number)).touch()
        if self._failures:
            raise self._failures[0]

    def _tell(self, told: Callable[[Row], None]) -> None:
        for report in list(self._reports):
            for row in report.rows():
                told(row)

    def _work_or_fail(self, request: dict[str, Any], operators: Sequence[Operator]) -> None:
        try:
            self._work(request, operators)
        except Exception as error:
            self._failures.append(error)

    def _work(self, request: dict[str, Any], operators: Sequence[Operator]) -> None:
        """Run one process after the other until every operator is claimed."""
        claims = Path(request["claims"])
        numbers = {operator: number for number, operator in enumerate(operators)}
        reports: list[_Report] = []

        def opened(path: Path) -> None:
            reports.append(_Report(path))
            self._reports.append(reports[-1])

        def lost(operator: Operator, ended: Ended) -> Row:
            row = {"crashed": _how(ended, self._laboratory.limits.wall), "tried": 0, "failures": [], "untestable": ""}
            reports[-1].add({"operator": [operator.name, operator.variant], **row})
            return row

        _, broken = Batch(
            "hunt_runner",
            request=lambda left: request,
            parse_report=_heard,
            on_crash=lost,
            limits=self._limits,
            remaining=lambda left: [one for one in left if not (claims / str(numbers[one])).exists()],
            on_report=opened,
        ).run(self._laboratory, self._variant, operators)
        if broken is not None:
            raise NothingRuns(self._laboratory.python, broken)

    def _limits(self, count: int) -> Limits:
        limits = self._laboratory.limits
        seconds = limits.wall * count + _START_SECONDS
        return replace(limits, wall=_WALL * seconds, cpu=int(seconds))


def _heard(rows: list[Row], ended: Ended) -> BatchReport[Operator, Row]:
    """Convert the rows of a process. One that raised before its first result counts as not ready."""
    answers = {Operator(*row["operator"]): row for row in rows if "failures" in row}
    begun: Operator | None = None
    for row in rows:
        if "start" in row:
            begun = Operator(*row["start"])
    raised = ended.code > 0 and _TIMEOUT not in ended.stderr
    return BatchReport(any("operators" in row for row in rows) and (bool(answers) or not raised), begun, answers)


def last_words(ended: Ended) -> str:
    """Return the last line that a process wrote to stderr."""
    return (ended.stderr.strip().splitlines() or ["it ended without a word"])[-1]


def _how(ended: Ended, patience: float) -> str:
    """Describe the end of a process."""
    if -ended.code == signal.SIGPROF:
        return f"stopped after {patience:.0f} s of processor time"
    if _TIMEOUT in ended.stderr:
        return f"stopped after {_WALL * patience:.0f} s"
    return ended.died or f"exit {ended.code}: {last_words(ended)}"


class _Report:
    """Rows of one process, read while they are written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._at = 0
        self._late: list[Row] = []

    def rows(self) -> Iterator[Row]:
        """Yield the rows since the last call."""
        with self.path.open("rb") as file:
            file.seek(self._at)
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        self._at += len(whole)
        yield from (row for row in map(json.loads, whole.splitlines()) if "failures" in row)
        while self._late:
            yield self._late.pop()

    def add(self, row: Row) -> None:
        """Add a row for an operator whose process died before writing one."""
        self._late.append(row)
