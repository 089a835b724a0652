"""Calls of the functions of two versions of a module, captured by the tracers that reach them."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from goldens import Golden, installed_torch
from symfix.codemods.harness.children.recorders.captures import TRACERS, Capture, capture, copied
from symfix.codemods.harness.children.recorders.recorded_calls import Call, functions_of, recorded_calls, traceable
from symfix.codemods.model.source_file import SourceFile
from symfix.codemods.verify.compare.captures import lost_captures
from symfix.python.analysis.flow.tracers import is_faked
from symfix.python.syntax.module import Module, parse

FAKED = ("make_fx", "export")
"""Tracers of functions that PyTorch only runs on fake tensors."""
_MOST = 3


@dataclass(frozen=True)
class Traced:
    """Captures of a call before and after, by tracer. The name is that of its function, with a number."""

    name: str
    before: dict[str, Capture]
    after: dict[str, Capture]

    @property
    def lost(self) -> list[str]:
        """Return the tracers that no longer accept the call as before, with the reasons."""
        found = lost_captures(self.before, self.after).items()
        return [f"{self.name} by {tracer}: {reason}" for tracer, reason in found]


def traced(golden: Golden) -> Iterator[Traced]:
    """Capture the calls in ``observe()`` of a golden, before and after. Raises ValueError if the calls differ."""
    assert golden.after is not None
    with loaded(golden.before) as before, loaded(golden.after) as after:
        pairs = [calls_of(module) for module in (before, after)]
        if [[name, len(calls)] for name, calls in pairs[0].items()] != [[n, len(c)] for n, c in pairs[1].items()]:
            raise ValueError(f"{golden.name}: other calls before than after")
        for name, calls in pairs[0].items():
            tracers = tracers_of(golden, name)
            for number, (was, now) in enumerate(zip(calls, pairs[1][name], strict=True)):
                yield Traced(f"{name}[{number}]", capture(*traceable(was), tracers), capture(*traceable(now), tracers))


@contextlib.contextmanager
def loaded(path: Path) -> Iterator[ModuleType]:
    """Yield the module of a file. Its name can be imported meanwhile, as dynamo and TorchScript require."""
    name = f"traced_{path.parent.name}_{path.stem.replace('.', '_')}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        del sys.modules[name]


def calls_of(module: ModuleType, most: int = _MOST) -> dict[str, list[Call]]:
    """Record the first calls in ``observe()`` of each function of its module."""
    wanted = {code: found for code, found in functions_of(module).items() if found[0] != "observe"}
    found: dict[str, list[Call]] = defaultdict(list)
    with recorded_calls(wanted.get, copied, most) as calls:
        module.observe()
    for call in calls:
        found[call.name].append(call)
    return dict(found)


def tracers_of(golden: Golden, name: str) -> tuple[str, ...]:
    """Return the tracers that reach a function of a golden, as the rules determine them."""
    module = _parsed(golden)
    function = next((one for one in module.functions if one.qualname == name), None)
    if is_faked(module, function, installed_torch()):
        return FAKED
    scripted = "drop-torchscript" not in golden.options
    return tuple(tracer for tracer in TRACERS if tracer != "script" or scripted)


def _parsed(golden: Golden) -> Module:
    content = golden.before.read_bytes().removeprefix(b"\xef\xbb\xbf")
    return parse(SourceFile(Path(golden.options.get("path", golden.before.name)), content))
