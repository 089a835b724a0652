"""Dimensions that became constants in a trace, and those among them whose size the call itself fixes."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from typing import Any

import torch
from torch.utils import _pytree as pytree

from .samples import Dimension, Sample, attempt, tensors_in

_PINNED = re.compile(r"You marked L\['(args|kwargs)'\](\S*)\.size\(\)\[(\d+)\] as dynamic but your code specialized it")


def pinned_dimensions(sample: Sample, message: str) -> frozenset[Dimension]:
    """Return the dimensions that became constants, by the message of a ConstraintViolationError."""
    inputs = dict(zip(("args", "kwargs"), sample.inputs(), strict=True))
    numbers = {id(tensor): number for number, tensor in enumerate(tensors_in(tuple(inputs.values())))}
    found = set()
    for whose, path, dimension in _PINNED.findall(message):
        tensor = _member(inputs[whose], path)
        if id(tensor) in numbers:
            found.add((numbers[id(tensor)], int(dimension)))
    return frozenset(found)


def _member(value: Any, path: str) -> Any:
    """Return the member of a nested value at a path such as ``[0]['weight']``, or None."""
    for key in re.findall(r"\[([^\]]+)\]", path):
        try:
            value = value[ast.literal_eval(key)]
        except (LookupError, TypeError, ValueError, SyntaxError):
            return None
    return value


def fixed_dimensions(sample: Sample, pinned: Collection[Dimension]) -> frozenset[Dimension]:
    """Return the ``pinned`` dimensions whose size the call itself fixes: eager takes it at no other size."""
    _, error = attempt(sample.call)
    if error:
        return frozenset()
    return frozenset(one for one in pinned if next(at_other_sizes(sample, one, pinned), None) is None)


def at_other_sizes(sample: Sample, dimension: Dimension, pinned: Collection[Dimension]) -> Iterator[Sample]:
    """Yield the same call with other sizes of a ``pinned`` dimension that eager takes.

    The results have the same number and rank. One more, twice as many and one less are tried: for the dimension alone,
    together with the pinned dimensions of the same size, and with all dimensions of the same size. One less than 2 is
    not tried, since 1 is broadcast.
    """
    expected, error = attempt(sample.call)
    for other in _changed(sample, dimension, pinned) if not error else ():
        result, error = attempt(other.call)
        if not error and _kind(result) == _kind(expected):
            yield other


def _changed(sample: Sample, dimension: Dimension, pinned: Collection[Dimension]) -> Iterator[Sample]:
    tensors = tensors_in(sample.inputs())
    sizes = {(number, at): size for number, tensor in enumerate(tensors) for at, size in enumerate(tensor.shape)}
    size = sizes[dimension]
    same = [one for one in sizes if sizes[one] == size]
    for together in ([dimension], [one for one in same if one in pinned], same):
        for other in (size + 1, 2 * size, *((size - 1,) if size > 2 else ())):
            yield sample.with_size(together, other)


def _kind(result: Any) -> Any:
    leaves = pytree.tree_leaves(result)
    return [(leaf.dim(), leaf.dtype) if isinstance(leaf, torch.Tensor) else type(leaf) for leaf in leaves]
