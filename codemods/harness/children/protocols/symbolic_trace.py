"""Trace of one sample by ``make_fx`` with symbolic sizes."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils import _pytree as pytree

from ..samples.samples import Sample, seed


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
