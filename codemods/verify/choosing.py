"""Which of torch's own operator tests reach a kernel, and which of them to run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from .. import storage
from ..torchapi.locating import Place
from .evidence import question_key
from .scratch import new_name
from .variants import Laboratory, Variant

MOST_INDIRECT = 2


@dataclass(frozen=True)
class Choice:
    """Operators (names of OpInfos) to run, and for a person, why these."""

    operators: tuple[str, ...]
    reason: str


def choose(kernels: Iterable[str], index: Mapping[str, list[str]]) -> Choice:
    """The OpInfos that test the aten operators ``kernels`` (``cross_entropy_loss``, ``nll_loss.out``).

    An OpInfo of the operator's own name comes first; where there is none, those that run it and least else.
    """
    plain = {kernel.partition(".")[0] for kernel in kernels}
    # Those with a test of their own first: it often runs the others too.
    names = sorted(plain, key=lambda name: (not any(_own(opinfo, name) for opinfo in index), name))
    chosen: dict[str, None] = {}
    reasons = []
    for name in names:
        running = sorted((len(ran), opinfo) for opinfo, ran in index.items() if name in ran)
        direct = [opinfo for _, opinfo in running if _own(opinfo, name)]
        already = [opinfo for opinfo in chosen if name in index[opinfo]]
        picked = direct or already or [opinfo for _, opinfo in running][:MOST_INDIRECT]
        chosen |= dict.fromkeys(picked)
        more = f" of {len(running)} that run it" if len(running) > len(picked) else ""
        reasons.append(f"{name}: {', '.join(picked)}{more}" if picked else f"{name}: no operator test runs it")
    return Choice(tuple(chosen), "; ".join(reasons))


def coverage(laboratory: Laboratory, place: Place, progress: Callable[[str], None]) -> dict[str, list[str]]:
    """The index of the torch at ``place``: OpInfo to the aten operators it runs; made once for each build."""
    path = storage.folder("coverage") / f"{question_key([place.build.encode()])}.json"
    try:
        kept: dict[str, list[str]] = json.loads(path.read_bytes())
        return kept
    except (OSError, ValueError):
        pass
    progress("indexing what torch's operator tests run (once for each torch)")
    report = laboratory.scratch / new_name("coverage")
    ended, index = laboratory.ask("coverage", Variant("installed"), {}, report)
    if not index:
        raise CoverageFailed(f"torch's operator tests can't be indexed: {ended.died or ended.stderr.strip()[-400:]}")
    storage.store(path, json.dumps(index).encode())
    return index


class CoverageFailed(Exception):
    """The index could not be made; ``str()`` is the one line for the user."""


def _own(opinfo: str, name: str) -> bool:
    last = opinfo.rpartition(".")[2]
    return name in (last, opinfo.replace(".", "_"), f"special_{last}") or name in (f"{last}_loss", f"{last}_forward")
