"""Which of torch's own operator tests reach a kernel, and which of them to run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from .. import storage
from ..torchapi.locating import Place
from .scratch import new_name
from .variants import Laboratory, Variant

MOST_INDIRECT = 2
MOST = 16


@dataclass(frozen=True)
class Choice:
    """Operators (names of OpInfos) to run, and for a person, why these."""

    operators: tuple[str, ...]
    reason: str


def choose(
    operators: Iterable[str], index: Mapping[str, list[str]], *, certain: bool = True, namespaces: Iterable[str] = ()
) -> Choice:
    """The OpInfos that test the aten operators named (``cross_entropy_loss``, ``nll_loss.out``).

    An OpInfo of the operator's own name comes first, one in ``namespaces`` (``masked``) before others; where there is
    none, those that run it and least else. Names that are not ``certain`` and that no test knows are passed over.
    """
    plain = {operator.partition(".")[0] for operator in operators}
    own = {name: _own_tests(name, index, tuple(f"{space}." for space in namespaces)) for name in plain}
    chosen: dict[str, None] = {}
    reasons = []
    # Those with a test of their own first: it often runs the others too.
    for name in sorted(plain, key=lambda name: (not own[name], name)):
        running = sorted((len(ran), opinfo) for opinfo, ran in index.items() if name in ran)
        already = [opinfo for opinfo in chosen if name in index[opinfo]]
        picked = own[name] or already or [opinfo for _, opinfo in running][:MOST_INDIRECT]
        chosen |= dict.fromkeys(picked)
        more = f" of {len(running)} that run it" if len(running) > len(picked) else ""
        if picked or certain:
            reasons.append(f"{name}: {', '.join(picked)}{more}" if picked else f"{name}: no operator test runs it")
    if len(chosen) > MOST:
        reasons.append(f"the first {MOST} of these {len(chosen)}")
    return Choice(tuple(chosen)[:MOST], "; ".join(reasons) or "no operator test runs what changed")


def coverage(laboratory: Laboratory, place: Place, progress: Callable[[str], None]) -> dict[str, list[str]]:
    """The index of the torch at ``place``: OpInfo to the aten operators it runs; made once for each build."""
    maker = (Path(__file__).parent / "children" / "coverage.py").read_bytes()
    name = hashlib.sha256(place.build.encode() + b"\0" + maker).hexdigest()[:32]
    path = storage.folder("coverage") / f"{name}.json"
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


def _own_tests(name: str, index: Mapping[str, list[str]], spaces: tuple[str, ...]) -> list[str]:
    tests = [opinfo for opinfo in index if _own(opinfo, name)]
    return [opinfo for opinfo in tests if opinfo.startswith(spaces)] or tests


def _own(opinfo: str, name: str) -> bool:
    last = opinfo.rpartition(".")[2]
    return name in (last, opinfo.replace(".", "_"), f"special_{last}") or name in (f"{last}_loss", f"{last}_forward")
