"""Trace of one sample by ``make_fx`` with symbolic sizes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils import _pytree as pytree

from ..samples.samples import Sample, attempt, seed, tensors_in

_last: tuple[Hashable, Callable[[Sequence[Any]], bool]] = (None, lambda tensors: False)
"""Key of the last sample that `trace_unless_alike` traced, and the guards of its graph."""


def trace_unless_alike(sample: Sample) -> None:
    """Trace a sample like `traced`, unless the last trace holds for its arguments too."""
    global _last
    key = sample.trace_key(hints=True), sample.trace_key(hints=False)
    known, admits = _last
    if key == known and admits(tensors_in(sample.inputs())):
        return
    _last = key, _guards(traced(sample))


def _guards(graph: Any) -> Callable[[Sequence[Any]], bool]:
    """Return the guards on sizes of a graph as a function of its tensors."""
    environment = getattr(graph, "shape_env", None)
    if environment is None:
        return lambda tensors: False
    given = [node.meta["val"] for node in graph.graph.nodes if node.op == "placeholder"]
    code, error = attempt(lambda: environment.produce_guards_expression(given, ignore_static=False))
    if error:
        return lambda tensors: False
    return lambda tensors: not code or bool(attempt(lambda: environment.evaluate_guards_expression(code, tensors))[0])


def traced(sample: Sample) -> Any:
    """Return the graph that ``make_fx`` records with symbolic sizes, as in PyTorch's own tests."""
    leaves, structure = pytree.tree_flatten(sample.inputs())
    places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]

    def call(*tensors: Any) -> Any:
        filled = list(leaves)
        for place, tensor in zip(places, tensors, strict=True):
            filled[place] = tensor
        args, kwargs = pytree.tree_unflatten(filled, structure)
        return sample.function(*args, **kwargs)

    seed(0)
    return make_fx(call, tracing_mode="symbolic")(*(leaves[place] for place in places))
