"""Operators run on remote machines, which have the same torch and no shared disk."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any

from ...harness.fork_server_cache import kept
from ...harness.process_limits import Limits
from ...harness.torch_variant import Variant
from ...system.cluster import UnlikeWorker, spread
from ...torchapi.torch_finder import TorchInstallation as Torch
from ...torchapi.torch_finder import locate
from .failure import Operator
from .journal import Row
from .workers import Workers

_CRASHED = "the workers that ran it died"


def run_far(
    executor: Executor,
    operators: Sequence[Operator],
    asked: Mapping[str, Any],
    torch: Torch,
    patience: float,
    told: Callable[[Row], None],
) -> None:
    """Run the operators on workers and pass each row to ``told``.

    An operator whose workers died counts as crashed. Raises NothingRuns and UnlikeWorker.
    """
    parts: list[list[Any]] = [[[one.name, one.variant]] for one in operators]
    words = (dict(asked), torch.build, str(torch.package.parent), patience)
    for _, rows in spread(executor, _sweep, parts, *words, lost=_lost):
        for row in rows:
            told(row)


def _lost(operator: list[str]) -> Row:
    return {"operator": operator, "crashed": _CRASHED, "tried": 0, "failures": [], "untestable": ""}


def _sweep(part: list[list[str]], asked: dict[str, Any], build: str, home: str, patience: float) -> list[Row]:
    """Sweep operators on a worker, with the paths of its torch replaced by those of the requesting machine."""
    torch = locate(None, None)
    if torch.build != build:
        raise UnlikeWorker(f"a worker has another torch than this machine ({torch.build}, here {build})")
    rows: list[Row] = []
    with kept(torch.python, Limits(wall=patience)) as (laboratory, _):
        workers = Workers(laboratory, Variant("installed", identity="installed"), 1)
        workers.run([Operator(*one) for one in part], asked, rows.append)
    found: list[Row] = json.loads(
        json.dumps(rows).replace(json.dumps(str(torch.package.parent))[1:-1], json.dumps(home)[1:-1])
    )
    return found
