"""Selection of torch's own operator tests that reach a kernel, and of those to run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from ...harness.process_limits import CHILDREN
from ...harness.temp_folder import new_name
from ...harness.torch_variant import Harness, Variant
from ...torchapi.index_cache import stored
from ...torchapi.torch_finder import TorchInstallation
from ..build.changed_kernels import functions_reaching
from ..build.modules import namespace
from ..change import Change, KernelSwap
from .changed_functions import ChangedFunction, changed_functions, operators_named
from .function_index import CoverageFailed, TraceIndex, trace_index

MOST_INDIRECT = 2
MOST_THROUGH = 6
"""Maximum number of tests for a changed Python function, unless more have its own name."""
MOST = 16


@dataclass(frozen=True)
class SelectedTests:
    """Names of OpInfos to run, and the reason for the user."""

    operators: tuple[str, ...]
    reason: str
    unreached: tuple[str, ...] = ()
    """Changed functions that no operator test runs."""
    functions: int = 0
    """Number of changed Python functions with a test. The first ones of the operators test one function each."""


def choose(operators: Iterable[str], index: Mapping[str, list[str]]) -> SelectedTests:
    """Choose the OpInfos that test the named aten operators (``cross_entropy_loss``, ``nll_loss.out``).

    An OpInfo of the operator's own name comes first. Without one, an OpInfo that is already chosen and runs the
    operator is used, or those that run the fewest other operators.
    """
    plain = {operator.partition(".")[0] for operator in operators}
    own = {name: _own_tests(name, index, "") for name in plain}
    chosen: dict[str, None] = {}
    reasons = []
    # Operators with a test of their own come first, since that test often runs the others too.
    for name in sorted(plain, key=lambda name: (not own[name], name)):
        running = sorted((len(ran), opinfo) for opinfo, ran in index.items() if name in ran)
        already = [opinfo for opinfo in chosen if name in index[opinfo]]
        picked = own[name] or already or [opinfo for _, opinfo in running][:MOST_INDIRECT]
        chosen |= dict.fromkeys(picked)
        more = f" of {len(running)} that run it" if len(running) > len(picked) else ""
        reasons.append(f"{name}: {', '.join(picked)}{more}" if picked else f"{name}: no operator test runs it")
    if len(chosen) > MOST:
        reasons.append(f"the first {MOST} of these {len(chosen)}")
    return SelectedTests(tuple(chosen)[:MOST], "; ".join(reasons) or "no operator test runs what changed")


def composed_of(overloads: Iterable[str], index: Mapping[str, list[str]]) -> tuple[str, ...]:
    """Return at most `MOST` OpInfos that run any of these operators (``aten.hsplit.int``), the most specific first."""
    names = {overload.split(".")[1] for overload in overloads}
    running = sorted((len(ran), opinfo) for opinfo, ran in index.items() if names & {*ran})
    return tuple(opinfo for _, opinfo in running)[:MOST]


def running_change(changes: Sequence[Change], swaps: Sequence[KernelSwap]) -> tuple[KernelSwap, ...]:
    """Return the swapped kernels that run changed code, or all without a change or after one to a constant or macro."""
    reaching: set[str] = set()
    for change in changes:
        functions = functions_reaching(change.before, change.after)
        if functions is None:
            return tuple(swaps)
        reaching |= functions
    return tuple(swap for swap in swaps if swap.kernel in reaching) if reaching else tuple(swaps)


def choose_cpp(
    changes: Sequence[Change], swapped: Sequence[KernelSwap], index: Mapping[str, list[str]]
) -> SelectedTests:
    """Choose the OpInfos for the swapped kernels that run changed code."""
    running = running_change(changes, swapped)
    if running:
        return choose({swap.operator for swap in running if swap.operator}, index)
    return SelectedTests((), "no kernel that can be swapped in runs what changed")


def choose_python(modules: Mapping[str, Change], index: TraceIndex, installed: Path) -> SelectedTests:
    """Choose the OpInfos that run the changed functions of ``modules`` of torch, whose package is ``installed``.

    Among the OpInfos that run a function, those of its own name come first, then those that run the fewest other
    functions. A function missing from the index is matched by its decorators' and its own name.
    """
    picks: list[list[str]] = []
    reasons, unreached = [], []
    for module, change in modules.items():
        for function, running in _through(module, change, index, installed).items():
            named = [
                test
                for name in sorted(operators_named(function, change.before))
                for test in _own_tests(name, index.operators, namespace(module))
            ]
            own = [name for name in named if name in running]
            picked = list(dict.fromkeys([*own, *running]))[: max(len(own), MOST_THROUGH)] or list(dict.fromkeys(named))
            if not picked:
                unreached.append(function.qualname)
                reasons.append(f"no test reaches {function.qualname}")
                continue
            picks.append(picked)
            how = f" of {len(running)} that run it" if len(running) > len(picked) else "" if running else " by name"
            reasons.append(f"{function.qualname}: {', '.join(picked)}{how}")
    # Round-robin, so that each function keeps a test if only some can be run.
    chosen = list(dict.fromkeys(name for turn in zip_longest(*picks) for name in turn if name is not None))
    if len(chosen) > MOST:
        reasons.append(f"of these {len(chosen)} run: {', '.join(chosen[:MOST])}")
    return SelectedTests(
        tuple(chosen[:MOST]), "; ".join(reasons) or "no function differs", tuple(unreached), len(picks)
    )


def operators_through(
    modules: Mapping[str, Change], laboratory: Harness, place: TorchInstallation, progress: Callable[[str], None]
) -> dict[ChangedFunction, tuple[str, ...]]:
    """Return each changed function of ``modules`` with every OpInfo that runs it, the most specific first.

    Raises CoverageFailed.
    """
    index = trace_index(laboratory, place, progress)
    found: dict[ChangedFunction, tuple[str, ...]] = {}
    for module, change in modules.items():
        found |= _through(module, change, index, place.package)
    return found


def _through(module: str, change: Change, index: TraceIndex, installed: Path) -> dict[ChangedFunction, tuple[str, ...]]:
    file = installed.parent.joinpath(*module.split("."))
    file = file / "__init__.py" if file.is_dir() else file.with_suffix(".py")
    name = file.relative_to(installed.parent).as_posix()
    exact = file.is_file() and file.read_bytes() == change.before
    changed = changed_functions(change.before, change.after)
    return {function: index.running(name, function, exact=exact) for function in changed}


def coverage(laboratory: Harness, place: TorchInstallation, progress: Callable[[str], None]) -> dict[str, list[str]]:
    """Return the index of the torch at ``place``, OpInfo to the aten operators it runs, cached for each build.

    Raises CoverageFailed.
    """
    maker = (CHILDREN / "entrypoints" / "operator_coverage.py").read_bytes()
    name = hashlib.sha256(place.build.encode() + b"\0" + maker).hexdigest()[:32]

    def made() -> bytes:
        progress("indexing what torch's operator tests run (once for each torch)")
        report = laboratory.scratch / new_name("coverage")
        ended, index = laboratory.ask("operator_coverage", Variant("installed"), {}, report)
        if not index:
            why = ended.died or ended.stderr.strip()[-400:]
            raise CoverageFailed(f"torch's operator tests can't be indexed: {why}")
        return json.dumps(index).encode()

    found: dict[str, list[str]] = json.loads(stored("coverage", f"{name}.json", made))
    return found


def _own_tests(name: str, tests: Iterable[str], space: str) -> list[str]:
    """Return the tests with an operator's name, only those in the namespace ``space`` if it has any."""
    own = [opinfo for opinfo in tests if _own(opinfo, name)]
    return [opinfo for opinfo in own if space and opinfo.startswith(f"{space}.")] or own


def _own(opinfo: str, name: str) -> bool:
    last = opinfo.rpartition(".")[2]
    return name in (last, opinfo.replace(".", "_"), f"special_{last}") or name in (f"{last}_loss", f"{last}_forward")
