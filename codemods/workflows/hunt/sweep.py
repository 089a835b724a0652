"""A sweep: operators run under one protocol in child processes, resumable."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...harness.opinfo_runner import BACKED, DYNAMIC, INDUCTOR, OPERATORS, SAMPLES, UNBACKED
from ...harness.process_limits import Limits, children_digest
from ...harness.temp_folder import scratch_folder
from ...harness.torch_variant import Harness, Variant
from ...system import cache_folder
from ...torchapi.torch_finder import TorchInstallation as Torch
from ...torchapi.torch_finder import locate
from .failure import Failure, Operator
from .failure_attribution import failures_of
from .journal import HuntJournal, Row
from .operator_names import operators_of, resolve
from .remote import run_far
from .workers import Workers

PATIENCE_SECONDS = 240.0
_SOME_SAMPLES = dict.fromkeys((BACKED, DYNAMIC, INDUCTOR), SAMPLES)
"""Limit on samples by protocol, for protocols that compile each sample several times or generate code for it."""
FORWARD_FAILS = "its forward pass fails"
"""Start of the reason for an untested backward pass."""


@dataclass(frozen=True)
class Sweep:
    """Result of each operator, in the order of their names."""

    protocol: str
    torch: str
    passed: tuple[Operator, ...] = ()
    failures: tuple[Failure, ...] = ()
    untestable: dict[Operator, str] = field(default_factory=dict)
    """Reasons why an operator could not be tried."""
    outside: tuple[Operator, ...] = ()
    """Operators that take no float32, which the protocols do not cover."""
    seconds: float = 0.0
    """Wall time of the operators that were run. Results from the journal add nothing."""
    recalled: int = 0
    """Number of operators whose result came from the journal."""
    kind: str = OPERATORS
    fixed: tuple[Operator, ...] = ()
    """Operators with dimensions that are not marked, since the call itself fixes their size."""
    not_run: int = 0
    """Number of operators without a recorded result, where nothing was to be run."""

    @property
    def failed(self) -> tuple[Operator, ...]:
        """Return the failing operators without repetition."""
        return tuple(dict.fromkeys(failure.operator for failure in self.failures))


@dataclass(frozen=True)
class HuntRequest:
    """Operators or modules to run, and how."""

    operators: Sequence[Operator | str] | None = None
    """None for all that torch tests."""
    protocol: str = UNBACKED
    kind: str = OPERATORS
    """Operators or modules."""
    every_sample: bool = False
    """False if an operator stops at its first failing sample."""
    samples: int | None = None
    """Largest number of samples of an operator, those with the most different arguments. None for all, as PyTorch's own
    tests try them, except under the protocols of `_SOME_SAMPLES`."""


@dataclass(frozen=True)
class HuntSession:
    """Torch and machine of a hunt."""

    variant: Variant | None = None
    """Changed torch, or None for the installed one."""
    laboratory: Harness | None = None
    """Harness whose ``limits.wall`` limits each operator, in seconds of processor time."""
    torch_python: Path | None = None
    jobs: int = 2
    journal: Path | None = None
    """File of recorded results. None for that in the cache folder for this torch, protocol and variant."""
    fresh: bool = False
    """True if recorded results are deleted first."""
    stored: bool = False
    """True if only recorded results are returned, such as those of an interrupted run."""
    executor: Executor | None = None
    """Workers of a cluster that run the operators, in place of ``jobs`` local processes."""


def sweep(
    request: HuntRequest,
    session: HuntSession | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Sweep:
    """Trace operators under a protocol.

    Raises a TorchError when there is no usable torch, UnknownOperator, and NothingRuns when torch's tests can't be
    loaded.
    """
    session = session or HuntSession()
    started = time.monotonic()
    torch = locate(None, session.torch_python)
    on = session.variant or Variant("installed", identity="installed")
    with ExitStack() as stack:
        limits = Limits(wall=PATIENCE_SECONDS)
        here = session.laboratory or Harness(torch.python, stack.enter_context(scratch_folder()), limits)
        known = operators_of(here, torch, request.kind)
        wanted = every = sorted(known) if request.operators is None else resolve(request.operators, known)
        asked = {name: value for name, value in vars(request).items() if name != "operators"}
        asked["samples"] = request.samples or _SOME_SAMPLES.get(request.protocol)
        kept = HuntJournal(session.journal or default_journal(torch, on, asked))
        if session.fresh:
            kept.forget()
        if session.stored:
            wanted = [operator for operator in wanted if operator in kept.rows]
        # Crashed operators are run again: the machine may have been the cause.
        left = [operator for operator in wanted if kept.rows.get(operator, {"crashed": True}).get("crashed")]
        left = [] if session.stored else left
        total, recalled = len(wanted), len(wanted) - len(left)
        progress(recalled, total)
        done = recalled

        def told(row: Row) -> None:
            nonlocal done
            kept.add(row)
            done += 1
            progress(done, total)

        if left and session.executor is not None:
            assert session.variant is None
            run_far(session.executor, left, asked, torch, here.limits.wall, told)
        elif left:
            Workers(here, on, session.jobs).run(left, asked, told)
    rows = {operator: kept.rows[operator] for operator in wanted}
    found = collect(rows, request.protocol, torch, on)
    seconds, not_run = round(time.monotonic() - started, 2), len(every) - len(wanted)
    return replace(found, kind=request.kind, seconds=seconds, recalled=recalled, not_run=not_run)


def collect(rows: dict[Operator, Row], protocol: str, torch: Torch, variant: Variant) -> Sweep:
    """Convert the rows of a journal into a sweep."""
    passed: list[Operator] = []
    outside: list[Operator] = []
    untestable: dict[Operator, str] = {}
    failures: list[Failure] = []
    for operator, row in rows.items():
        found = failures_of(operator, protocol, row, torch.package.parent, variant.modules)
        failures += found
        if row.get("outside"):
            outside.append(operator)
        elif row["untestable"] and not found:
            untestable[operator] = row["untestable"]
        elif not found:
            passed.append(operator)
    fixed = tuple(operator for operator, row in rows.items() if row.get("fixed"))
    return Sweep(protocol, torch.build, tuple(passed), tuple(failures), untestable, tuple(outside), fixed=fixed)


def default_journal(torch: Torch, variant: Variant, asked: Mapping[str, Any]) -> Path:
    """Return the journal file for a request. Its name depends on the torch, the code under test and the request."""
    parts: Iterable[bytes] = (
        torch.build.encode(),
        str(torch.package).encode(),
        repr((variant.identity, sorted(asked.items()))).encode(),
        *(variant.modules[name].read_bytes() for name in sorted(variant.modules)),
        children_digest().encode(),
    )
    digest = hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()[:24]
    return cache_folder.folder("hunts") / f"{asked['kind']}-{asked['protocol']}-{digest}.jsonl"
