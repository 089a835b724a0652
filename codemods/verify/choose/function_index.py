"""Index of the operator tests that run each Python function of torch, made once for each torch."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from ...harness.process_limits import CHILDREN
from ...harness.temp_folder import new_name
from ...harness.torch_variant import Harness, Variant
from ...torchapi.index_cache import stored
from ...torchapi.torch_finder import TorchInstallation
from .changed_functions import ChangedFunction

_SECONDS = 1800
_PARTS = 2


class CoverageFailed(Exception):
    """Error raised when the index can't be made. ``str()`` is the one line for the user."""


@dataclass(frozen=True)
class TraceIndex:
    """OpInfos that run each function, by file (``torch/masked/_ops.py``), as indices into ``operators``."""

    operators: tuple[str, ...]
    functions: Mapping[str, Mapping[str, tuple[int, ...]]]
    breadth: Mapping[str, int]
    """Number of functions of torch that each OpInfo runs. One that runs fewer is more specific."""

    def running(self, file: str, function: ChangedFunction, *, exact: bool = True) -> tuple[str, ...]:
        """Return the OpInfos that run ``function``, the most specific first.

        With ``exact``, its line is that in the installed file, so that functions of the same name are distinguished.
        """
        known = self.functions.get(file, {})
        keys = [function.key] if exact else [key for key in known if key.rpartition(":")[0] == function.name]
        names = {self.operators[number] for key in keys for number in known.get(key, ())}
        return tuple(sorted(names, key=lambda name: (self.breadth[name], name)))


def trace_index(
    laboratory: Harness, place: TorchInstallation, progress: Callable[[str], None] = lambda _: None
) -> TraceIndex:
    """Return the index of the torch at ``place``, from the cache if it exists.

    Making it takes about half a minute on two cores. Raises CoverageFailed.
    """

    def made() -> bytes:
        progress("indexing which functions of torch its operator tests run (once for each torch)")
        with ThreadPoolExecutor(_PARTS) as pool:
            parts = list(pool.map(lambda part: _ask(laboratory, part), range(_PARTS)))
        return json.dumps(_merged(parts)).encode()

    return _index(json.loads(stored("traced", f"{_name(place)}.json", made)))


def _ask(laboratory: Harness, part: int) -> dict[str, Any]:
    report = laboratory.scratch / new_name("traced")
    request = {"part": part, "parts": _PARTS}
    limits = replace(laboratory.limits, wall=_SECONDS, cpu=_SECONDS)
    ended, answer = laboratory.ask("function_tracer", Variant("installed"), request, report, limits)
    if not answer:
        why = ended.died or ended.stderr.strip()[-400:]
        raise CoverageFailed(f"torch's operator tests can't be traced: {why}")
    return answer


def _merged(parts: list[dict[str, Any]]) -> dict[str, Any]:
    operators = sorted(name for part in parts for name in part["ran"])
    number = {name: position for position, name in enumerate(operators)}
    found: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for part in parts:
        functions = {code: (file, key) for file, keys in part["functions"].items() for key, code in keys.items()}
        for name, codes in part["ran"].items():
            for code in codes:
                file, key = functions[code]
                found[file][key].append(number[name])
    return {"operators": operators, "functions": found}


def _index(fields: dict[str, Any]) -> TraceIndex:
    operators = tuple(fields["operators"])
    functions = {
        file: {key: tuple(numbers) for key, numbers in keys.items()} for file, keys in fields["functions"].items()
    }
    breadth = dict.fromkeys(operators, 0)
    for keys in functions.values():
        for numbers in keys.values():
            for number in numbers:
                breadth[operators[number]] += 1
    return TraceIndex(operators, functions, breadth)


def _name(place: TorchInstallation) -> str:
    maker = (CHILDREN / "entrypoints" / "function_tracer.py").read_bytes()
    return hashlib.sha256(place.build.encode() + b"\0" + maker).hexdigest()[:32]
