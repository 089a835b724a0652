"""Side effects of a call: aliases, changed inputs, random numbers, warnings, gradients."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils import _pytree as pytree

from .samples import SEED, Sample, attempt, digest, layout, seed, shorten, tensors_in

MESSAGE = 2000


@dataclass(frozen=True)
class ObservedCall:
    """One call: its result or its error, and ``effects``, the digest or text of each side effect by kind."""

    result: Any
    error: str
    effects: dict[str, str] = field(default_factory=dict)


def call_and_watch(sample: Sample) -> ObservedCall:
    """Call the sample's operator on fresh inputs and record its side effects."""
    args, kwargs = sample.inputs()
    given = tensors_in((args, kwargs))
    seed(SEED)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        result, error = attempt(lambda: sample.function(*args, **kwargs), MESSAGE)
    effects = {
        "aliases": "; ".join(_aliases(result, given)),
        "inputs": digest([*given, [tensor._version for tensor in given]]),
        "random numbers": digest(torch.get_rng_state()),
        "warnings": "; ".join(_words(item) for item in warned),
    }
    return ObservedCall(result, error, effects)


def gradients(sample: Sample) -> str:
    """Return the gradients of all results by all inputs as a digest, or the error, or "" if a second run differs."""
    first = _gradients(sample)
    return first if first == _gradients(sample) else ""


def _gradients(sample: Sample) -> str:
    found, error = differentiated(sample)
    return error or f"{layout(found)} {digest(found)}"


def differentiated(sample: Sample) -> tuple[Any, str]:
    """Return the gradients of all results by all inputs and no error, or None and the error."""

    def differentiate() -> Any:
        args, kwargs = sample.inputs()
        asked = [tensor for tensor in tensors_in((args, kwargs)) if _differentiable(tensor)]
        for tensor in asked:
            tensor.requires_grad_()
        seed(SEED)
        results = [item for item in tensors_in(sample.function(*args, **kwargs)) if item.requires_grad]
        if not asked or not results:
            return []
        return torch.autograd.grad(results, asked, list(map(weights, results)), allow_unused=True)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return attempt(differentiate, MESSAGE)


def _differentiable(tensor: Any) -> bool:
    return (tensor.is_floating_point() or tensor.is_complex()) and not tensor.requires_grad


def weights(result: Any) -> Any:
    """Return different weights for all elements of a result, which it is multiplied by before its gradient is taken."""
    if result.layout is not torch.strided:
        return torch.ones_like(result)
    # A plain sum would not distinguish a row from a column.
    flat = torch.linspace(0.5, 1.5, result.numel(), dtype=torch.float64)
    return flat.reshape(result.shape).to(result.dtype)


def _aliases(result: Any, given: Sequence[Any]) -> list[str]:
    """Return the inputs and earlier results that each result is identical to or shares memory with, as lines."""
    found: list[str] = []
    known = [(f"input {number}", tensor) for number, tensor in enumerate(given)]
    for number, leaf in enumerate(pytree.tree_leaves(result)):
        if isinstance(leaf, torch.Tensor):
            found += [f"result {number} {how} {name}" for name, other in known if (how := _shares(leaf, other))]
            if leaf._is_view():
                found.append(f"result {number} is a view")
            known.append((f"result {number}", leaf))
    return found


def _shares(one: Any, other: Any) -> str:
    if one is other:
        return "is"
    if one.layout is not torch.strided or other.layout is not torch.strided:
        return ""
    same, error = attempt(lambda: one.untyped_storage()._cdata == other.untyped_storage()._cdata)
    if error or not same:
        return ""
    return f"at {one.storage_offset()} shares the memory of"


def _words(item: Any) -> str:
    text = re.sub(r"\(Triggered internally at .*?\)", "", str(item.message))
    return f"{item.category.__name__}: {shorten(text, MESSAGE)}"
