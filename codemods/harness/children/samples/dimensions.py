"""Conversion of dynamic shapes as torch.export takes them to the dynamic dimensions of a target."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch.utils import _pytree as pytree

from .export_targets import BadTarget, by_parameter, size_of


def convert(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], shapes: Any) -> dict[str, Any]:
    """Return a target's ``dynamic``: by parameter, for each dynamic dimension its name or its ``Dim``.

    A dimension without a name gets one of its own, such as ``x0``. Raises BadTarget.
    """
    if shapes is None:
        return {}
    given = by_parameter(_signature(module), args, kwargs)
    if hasattr(shapes, "dynamic_shapes"):
        shapes = shapes.dynamic_shapes(module, args, kwargs)
    if isinstance(shapes, (list, tuple)):
        if len(shapes) > len(given):
            raise BadTarget(f"'dynamic_shapes' has {len(shapes)} entries for {len(given)} inputs")
        shapes = dict(zip(given, shapes))  # noqa: B905 - what has no entry is static
    if not isinstance(shapes, Mapping):
        raise BadTarget(f"'dynamic_shapes' is a {type(shapes).__name__}: a dict, tuple or list is wanted")
    for name, parameter in _signature(module).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD and isinstance(shapes.get(name), Mapping):
            shapes = {**shapes, **shapes[name]}
            del shapes[name]
    unknown = next((name for name in shapes if name not in given), None)
    if unknown is not None:
        raise BadTarget(f"'dynamic_shapes' names {unknown!r}, which the call does not give")
    found = {name: _within(given[name], wanted, name) for name, wanted in shapes.items()}
    return {name: one for name, one in found.items() if _any(one)}


def of_marks(args: tuple[Any, ...], kwargs: dict[str, Any], module: Any) -> dict[str, Any]:
    """Return the dimensions that ``mark_dynamic`` or ``mark_unbacked`` marked, by parameter."""

    def marked(value: Any, name: str) -> Any:
        if isinstance(value, torch.Tensor):
            kinds = ("_dynamo_dynamic_indices", "_dynamo_unbacked_indices")
            dimensions = sorted(set().union(*(getattr(value, kind, ()) for kind in kinds)))
            ids = getattr(value, "_dynamo_shape_ids", None) or {}
            return {at: str(ids.get(at) or f"{name}{at}") for at in dimensions}
        if isinstance(value, Mapping):
            return {key: marked(one, f"{name}_{key}_") for key, one in value.items()}
        if isinstance(value, (list, tuple)):
            return [marked(one, f"{name}_{key}_") for key, one in enumerate(value)]
        return None

    found = by_parameter(_signature(module), args, kwargs)
    return {name: one for name, value in found.items() if _any(one := marked(value, name))}


def is_marked(tensor: Any, kind: str) -> bool:
    """Return whether ``mark_dynamic`` or ``mark_unbacked`` marked a dimension of a tensor."""
    return bool(getattr(tensor, f"_dynamo_{kind}_indices", ()))


def _signature(module: Any) -> inspect.Signature:
    return inspect.signature(module.forward if isinstance(module, torch.nn.Module) else module)


def _within(value: Any, wanted: Any, name: str) -> Any:
    if wanted is None:
        return None
    if isinstance(value, torch.Tensor):
        return dict(_of_tensor(value, wanted, name))
    if isinstance(value, Mapping) and isinstance(wanted, Mapping):
        missing = next((key for key in wanted if key not in value), None)
        if missing is not None:
            raise BadTarget(f"'dynamic_shapes' of {name!r}: the call gives no {missing!r}")
        return {key: _within(value[key], one, f"{name}_{key}_") for key, one in wanted.items()}
    if isinstance(value, (list, tuple)) and isinstance(wanted, (list, tuple)):
        if len(value) != len(wanted):
            raise BadTarget(f"'dynamic_shapes' of {name!r} has {len(wanted)} entries for {len(value)} values")
        pairs = enumerate(zip(value, wanted, strict=True))
        return [_within(one, part, f"{name}_{number}_") for number, (one, part) in pairs]
    if any(isinstance(leaf, torch.Tensor) for leaf in pytree.tree_leaves(value)):
        raise BadTarget(f"'dynamic_shapes' of {name!r} does not have the structure of the value")
    # For a number, the value itself would be dynamic, which is not a size.
    return None


def _of_tensor(tensor: Any, wanted: Any, name: str) -> Iterator[tuple[int, Any]]:
    if isinstance(wanted, (list, tuple)):
        if len(wanted) != tensor.dim():
            raise BadTarget(f"'dynamic_shapes' of {name!r} has {len(wanted)} entries for {tensor.dim()} dimensions")
        wanted = dict(enumerate(wanted))
    if not isinstance(wanted, Mapping):
        raise BadTarget(f"'dynamic_shapes' of {name!r}: a dict by dimension, or a list or tuple, is wanted")
    for dimension, size in wanted.items():
        if not isinstance(dimension, int) or not -tensor.dim() <= dimension < tensor.dim():
            raise BadTarget(f"'dynamic_shapes' of {name!r}: there is no dimension {dimension!r}")
        at = dimension % tensor.dim()
        try:
            found = size_of(size, f"{name}{at}")
        except BadTarget as error:
            raise BadTarget(f"'dynamic_shapes' of {name!r}: {error}") from None
        if found is not None:
            yield at, found


def _any(dynamic: Any) -> bool:
    """Return whether the structure contains a dynamic dimension."""
    if isinstance(dynamic, (list, tuple)):
        return any(map(_any, dynamic))
    if isinstance(dynamic, Mapping):
        return any(map(_any, dynamic.values()))
    return dynamic is not None
