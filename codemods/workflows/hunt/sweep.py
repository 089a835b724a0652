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

from ...harness.opinfo_runner import OPERATORS, UNBACKED
from ...harness.process_limits import Limits, children_digest
from ...harness.temp_folder import scratch_folder
from ...harness.torch_variant import Harness, Variant
from ...system import cache_folder
from ...torchapi.torch_finder import TorchInstallation as Torch
from ...torchapi.torch_finder import locate
from .failure import Failure, Operator
from .failure_attribution import failures_of
from .journal import Journal, Row
from .operator_names import operators_of, resolve
from .remote import run_far
from .workers import Workers

PATIENCE_SECONDS = 240.0
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

    @property
    def failed(self) -> tuple[Operator, ...]:
        """Return the failing operators without repetition."""
        return tuple(dict.fromkeys(failure.operator for failure in self.failures))


def sweep(
    operators: Sequence[Operator | str] | None = None,
    protocol: str = UNBACKED,
    *,
    kind: str = OPERATORS,
    variant: Variant | None = None,
    laboratory: Harness | None = None,
    torch_python: Path | None = None,
    jobs: int = 2,
    journal: Path | None = None,
    fresh: bool = False,
    every_sample: bool = False,
    samples: int | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Sweep:
    """Trace ``operators`` under ``protocol`` on ``variant`` (None: the installed torch).

    ``operators`` of None are all that torch tests. ``kind`` is operators or modules. An operator stops at its first
    failing sample unless ``every_sample``. At most ``samples`` of its samples are tried, at even distances (None: all,
    as PyTorch's own tests do). ``journal`` is the file of recorded results. None is the file in the cache folder for
    this torch, protocol and variant. ``fresh`` deletes its rows. With ``executor`` the workers of a cluster run the
    operators, else ``jobs`` local processes.

    ``laboratory.limits.wall`` limits each operator, in seconds of processor time. Raises a TorchError when there is no
    usable torch, UnknownOperator, and NothingRuns when torch's tests can't be loaded.
    """
    started = time.monotonic()
    torch = locate(None, torch_python)
    on = variant or Variant("installed", identity="installed")
    with ExitStack() as stack:
        here = laboratory or Harness(torch.python, stack.enter_context(scratch_folder()), Limits(wall=PATIENCE_SECONDS))
        known = operators_of(here, torch, kind)
        wanted = sorted(known) if operators is None else resolve(operators, known)
        asked = {"kind": kind, "protocol": protocol, "every_sample": every_sample, "samples": samples}
        kept = Journal(journal or default_journal(torch, on, asked))
        if fresh:
            kept.forget()
        # Crashed operators are run again: the machine may have been the cause.
        left = [operator for operator in wanted if kept.rows.get(operator, {"crashed": True}).get("crashed")]
        total, recalled = len(wanted), len(wanted) - len(left)
        progress(recalled, total)
        done = recalled

        def told(row: Row) -> None:
            nonlocal done
            kept.add(row)
            done += 1
            progress(done, total)

        if left and executor is not None:
            assert variant is None
            run_far(executor, left, asked, torch, here.limits.wall, told)
        elif left:
            Workers(here, on, jobs).run(left, asked, told)
    rows = {operator: kept.rows[operator] for operator in wanted}
    found = collect(rows, protocol, torch, on)
    return replace(found, kind=kind, seconds=round(time.monotonic() - started, 2), recalled=recalled)


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
    return Sweep(protocol, torch.build, tuple(passed), tuple(failures), untestable, tuple(outside))


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
