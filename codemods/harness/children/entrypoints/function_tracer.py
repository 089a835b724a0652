"""Index of the Python functions of torch that the samples of each OpInfo run, on real and on symbolic fake tensors."""

from __future__ import annotations

import cProfile
import gc
import itertools
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils import _pytree as pytree

from ..overlay.report_writer import write
from ..samples.samples import Sample, attempt, draw
from .operators import by_name, quiet

DRAWN, EAGER, SYMBOLIC = 64, 16, 4
"""Numbers of samples of each variant that are drawn, run in eager and run symbolically. Samples of different kinds come
first."""
COLLECTED = 16


def main(request_path: str) -> None:
    """Trace the OpInfos of one of ``parts`` equal parts, and write the index to the report that the JSON file names."""
    request: dict[str, Any] = json.loads(Path(request_path).read_bytes())
    quiet()
    operators = by_name()
    gc.disable()
    # Existing objects are not garbage: a collection then visits only those that the samples left.
    gc.freeze()
    names = sorted(operators)[request["part"] :: request["parts"]]
    top = Path(torch.__file__).parents[1]
    numbers: dict[str, dict[str, int]] = {}
    ran = {}
    count = itertools.count()
    for name in names:
        own = set()
        for file, function in functions_run_by(operators[name], top):
            known = numbers.setdefault(file, {})
            own.add(known[function] if function in known else known.setdefault(function, next(count)))
        ran[name] = sorted(own)
        if len(ran) % COLLECTED == 0:
            gc.collect()
    write(request["report"], {"functions": numbers, "ran": ran})
    os._exit(0)


def functions_run_by(variants: list[Any], top: Path) -> Iterator[tuple[str, str]]:
    """Yield the file below ``top`` and ``name:first line`` of every function below it that the samples run."""
    profile = cProfile.Profile(subcalls=False, builtins=False)
    for variant in variants:
        samples = unlike(attempt(lambda variant=variant: list(itertools.islice(draw(variant), DRAWN)))[0] or [])  # type: ignore[misc]
        profile.enable()
        for number, sample in enumerate(samples[:EAGER]):
            attempt(sample.call)
            if number < SYMBOLIC:
                attempt(lambda sample=sample: call_symbolically(sample))  # type: ignore[misc]
        profile.disable()
    prefix = str(top) + os.sep
    for entry in profile.getstats():
        code: Any = entry.code
        if not isinstance(code, str) and code.co_filename.startswith(prefix):
            file = code.co_filename.removeprefix(prefix).replace(os.sep, "/")
            yield file, f"{code.co_name}:{code.co_firstlineno}"


def call_symbolically(sample: Sample) -> None:
    """Call on fake tensors with symbolic sizes through the Python dispatcher, as every tracer does."""
    mode = FakeTensorMode(shape_env=ShapeEnv(), allow_non_fake_inputs=True)
    # A second call of the same kernel would be answered from the cache without running it.
    mode.cache_enabled = False
    args, kwargs = pytree.tree_map_only(torch.Tensor, mode.from_tensor, sample.inputs())
    with mode, enable_python_dispatcher():
        sample.function(*args, **kwargs)


def unlike(samples: list[Sample]) -> list[Sample]:
    """Return the same samples, the first of each kind first."""
    first: dict[str, Sample] = {}
    for sample in samples:
        first.setdefault(_kind(sample), sample)
    chosen = list(first.values())
    return chosen + [sample for sample in samples if not any(sample is other for other in chosen)]


def _kind(sample: Sample) -> str:
    leaves, structure = pytree.tree_flatten(attempt(sample.inputs)[0])
    return f"{structure} {[leaf.dim() if isinstance(leaf, torch.Tensor) else _plain(leaf) for leaf in leaves]}"


def _plain(leaf: Any) -> str:
    return repr(leaf) if isinstance(leaf, (bool, str)) or leaf is None else type(leaf).__name__
