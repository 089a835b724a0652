"""Targets of ``symfix export``: a model, a call of it, and its dynamic dimensions."""

from __future__ import annotations

import copy
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

import torch
from torch.utils import _pytree as pytree


class Target(TypedDict, total=False):
    """Return value of a target's callable. Only ``model`` and ``dynamic`` are required."""

    model: Any
    """Module, or function of tensors."""
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    dynamic: dict[str, Any]
    """Dynamic dimensions by parameter of the model: ``{dimension: size}``. A name, or a ``Dim`` with its range, is one
    size at all of its occurrences. ``Dim.DYNAMIC`` and ``Dim.AUTO`` are each a size of their own. ``Dim.STATIC``,
    numbers and None are not dynamic. A parameter that takes a list or a dict of tensors gets a list or a dict of
    these."""
    more: list[tuple[tuple[Any, ...], dict[str, Any]]]
    """Further calls, ``(args, kwargs)`` each, on which the exported program is compared with the model."""
    training: bool
    """True if the gradients of the parameters are compared too."""


class BadTarget(Exception):
    """Error raised when the target can't be used. ``str()`` is the one line for the user."""


@dataclass
class ValidatedTarget:
    """Target that was read and validated. ``sizes`` are the sizes of the call by name."""

    module: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    marks: list[tuple[int, int, str]]
    """Dynamic dimensions: index of the tensor among the leaves of the call, dimension, name."""
    sizes: dict[str, int]
    ranges: dict[str, tuple[int, int | None]] = field(default_factory=dict)
    """Minimum and maximum of each requested size with a limited range, by name. A maximum of None is unlimited."""
    more: list[tuple[tuple[Any, ...], dict[str, Any]]] = field(default_factory=list)
    training: bool = False

    @property
    def differentiable(self) -> bool:
        """Return whether gradients count: in training, and where an input asks for one."""
        leaves = pytree.tree_leaves((self.args, self.kwargs))
        return self.training or any(isinstance(leaf, torch.Tensor) and leaf.requires_grad for leaf in leaves)

    def inputs(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return a fresh copy of the call's inputs."""
        args, kwargs = copy.deepcopy((self.args, self.kwargs))
        return args, kwargs

    def marked(self, inputs: Any) -> Iterator[tuple[Any, int, str]]:
        """Yield the dynamic dimensions of a call: tensor, dimension, name."""
        leaves = pytree.tree_leaves(inputs)
        for place, dimension, name in self.marks:
            yield leaves[place], dimension, name

    def dimensions(self, inputs: Any) -> Iterator[tuple[Any, dict[int, Any]]]:
        """Yield each tensor of a call that has dynamic dimensions, with these as ``dynamic_shapes`` has them."""
        leaves = pytree.tree_leaves(inputs)
        for place in dict.fromkeys(place for place, _, _ in self.marks):
            yield leaves[place], {at: self._dim(name) for where, at, name in self.marks if where == place}

    def _dim(self, name: str) -> Any:
        dynamic = torch.export.Dim.DYNAMIC
        return dynamic(**self.limits(name)) if name in self.ranges else dynamic

    def limits(self, name: str) -> dict[str, int]:
        """Return the range of a size as the keyword arguments ``min`` and ``max`` of torch, if it is limited."""
        least, most = self.ranges.get(name, (None, None))
        return {end: size for end, size in (("min", least), ("max", most)) if size is not None}

    def is_asked(self, name: str, size: int) -> bool:
        """Return whether a size is in the requested range."""
        least, most = self.ranges.get(name, (0, None))
        return least <= size and (most is None or size <= most)

    def sizes_of(self, inputs: Any) -> dict[str, int]:
        """Return the sizes of another call by name, or {} if it has another structure."""
        leaves = pytree.tree_leaves(inputs)
        tensors = [leaves[place] if place < len(leaves) else None for place, _, _ in self.marks]
        if not all(isinstance(tensor, torch.Tensor) for tensor in tensors):
            return {}
        pairs = zip(tensors, self.marks)  # noqa: B905 - one for each mark
        return {name: tensor.shape[at] for tensor, (_, at, name) in pairs if tensor is not None and at < tensor.dim()}

    def resized(self, sizes: Mapping[str, int]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the call with other sizes, with the values of each tensor repeated or cut off."""
        leaves, structure = pytree.tree_flatten(self.inputs())
        for place, dimension, name in self.marks:
            leaf = leaves[place]
            index = torch.arange(sizes[name]) % leaf.shape[dimension]
            other = leaf.detach().index_select(dimension, index).contiguous()
            leaves[place] = other.requires_grad_(leaf.requires_grad)
        args, kwargs = pytree.tree_unflatten(leaves, structure)
        return args, kwargs

    def alike(self) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
        """Return the call with the same values in all tensors of one shape and dtype; None where no two are alike."""
        leaves, structure = pytree.tree_flatten(self.inputs())
        first: dict[Any, Any] = {}
        for place, leaf in enumerate(leaves):
            if isinstance(leaf, torch.Tensor):
                same = first.setdefault((leaf.shape, leaf.dtype), leaf)
                leaves[place] = leaf if same is leaf else same.clone()
        if len(first) == sum(isinstance(leaf, torch.Tensor) for leaf in leaves):
            return None
        args, kwargs = pytree.tree_unflatten(leaves, structure)
        return args, kwargs


def load(words: str, folder: str) -> Callable[[], Target]:
    """Return the callable that ``script.py``, ``script.py:name`` or ``module:name`` names (default name: ``target``).

    Raises BadTarget.
    """
    place, _, name = words.rpartition(":") if ":" in words else (words, "", "")
    name = name or "target"
    sys.path.insert(0, folder)
    # Without a sandbox an import would leave a __pycache__ in the user's folders.
    sys.dont_write_bytecode = True
    try:
        module = _script(Path(folder, place)) if place.endswith(".py") else importlib.import_module(place)
    except ModuleNotFoundError as error:
        if error.name == place or (error.name and place.startswith(error.name + ".")):
            raise BadTarget(f"{words}: there is no module {place}") from None
        raise
    found = getattr(module, name, None)
    if not callable(found):
        raise BadTarget(f"{words}: {place} has no function {name}(); `symfix export --init` writes one to begin with")
    made: Callable[[], Target] = found
    return made


def _script(path: Path) -> Any:
    if not path.is_file():
        raise BadTarget(f"{path}: no such file")
    sys.path.insert(0, str(path.parent))
    # By the import system, so that a changed text of the script is served like that of any other file.
    sys.modules.pop(path.stem, None)
    module = importlib.import_module(path.stem)
    if Path(str(module.__file__)).resolve() != path.resolve():
        raise BadTarget(f"{path}: {path.stem} is the name of another module; give the script another name")
    return module


def read(given: Any, *, fixed: bool = False) -> ValidatedTarget:
    """Return the target as a `ValidatedTarget`. Raises BadTarget if it is invalid.

    With ``fixed``, it may have no dynamic dimension.
    """
    if not isinstance(given, Mapping) or "model" not in given:
        raise BadTarget("the target has to return a dict with the model under 'model'")
    unknown = sorted(set(given) - set(Target.__annotations__))
    if unknown:
        raise BadTarget(f"the target's dict has an unknown key: {unknown[0]!r}")
    args, kwargs = tuple(given.get("args", ())), dict(given.get("kwargs", {}))
    module = given["model"]
    device = next((one.device.type for one in _tensors(module, args, kwargs) if one.device.type != "cpu"), None)
    if device:
        raise BadTarget(f"the model or its inputs are on {device}; make them on the CPU")
    marks, sizes, ranges = _marks(module, args, kwargs, given.get("dynamic", {}))
    if not marks and not fixed:
        raise BadTarget("'dynamic' names no dimension: without one every export fits one shape only")
    wrapped = module if isinstance(module, torch.nn.Module) else _Function(module)
    return ValidatedTarget(
        wrapped, args, kwargs, marks, sizes, ranges, list(given.get("more", [])), bool(given.get("training"))
    )


class _Function(torch.nn.Module):
    """Module that wraps a function, since `torch.export` accepts modules only."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self._function = function

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)


def _tensors(module: Any, args: Any, kwargs: Any) -> Iterator[Any]:
    if isinstance(module, torch.nn.Module):
        yield from module.parameters()
        yield from module.buffers()
    yield from (leaf for leaf in pytree.tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor))


def size_of(size: Any, own: str) -> Any:
    """Return the name or ``Dim`` of a dimension, or ``own`` for one without a name, or None if it is static.

    Raises BadTarget.
    """
    if size is None or type(size) is int:
        return None
    hint = getattr(getattr(size, "type", None), "name", "")
    if hint == "STATIC":
        return None
    if hint in _FREE:
        limits = {end: found for end in ("min", "max") if (found := getattr(size, end, None)) is not None}
        return torch.export.Dim(own, **limits) if limits else own
    if hasattr(size, "root"):
        raise BadTarget(f"{size.__name__}, a size made of another, is not supported")
    if isinstance(size, str) or is_dim(size):
        return size
    raise BadTarget(f"{size!r} is no Dim, name, number or None, as in {{0: 'batch'}}")


def is_dim(size: Any) -> bool:
    """Return whether ``size`` is a ``Dim`` with a name."""
    return hasattr(size, "__name__") and hasattr(size, "min") and hasattr(size, "max")


def _range(dim: Any) -> tuple[int, int | None] | None:
    """Return the least and largest size of a ``Dim``, or None if it is unlimited."""
    most = dim.max if type(dim.max) is int and dim.max < _MOST else None
    return (dim.min, most) if dim.min > 0 or most is not None else None


_FREE = ("AUTO", "DYNAMIC")
_MOST = 2**31
"""Smallest maximum of a ``Dim`` that torch treats as unlimited."""


def _marks(
    module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], dynamic: Mapping[str, Any]
) -> tuple[list[tuple[int, int, str]], dict[str, int], dict[str, tuple[int, int | None]]]:
    signature = inspect.signature(module.forward if isinstance(module, torch.nn.Module) else module)
    given = by_parameter(signature, args, kwargs)
    # One tensor may occur in several places, so leaves are identified by their place.
    leaves, structure = pytree.tree_flatten((args, kwargs))
    places = by_parameter(signature, *pytree.tree_unflatten(list(range(len(leaves))), structure))
    marks: list[tuple[int, int, str]] = []
    sizes: dict[str, int] = {}
    ranges: dict[str, tuple[int, int | None]] = {}
    for name, wanted in dynamic.items():
        if name not in given:
            raise BadTarget(f"'dynamic' names {name!r}, which the call does not give")
        for tensor, place, dimensions in _pairs(given[name], places[name], wanted, name):
            for dimension, given_size in dimensions.items():
                if not isinstance(dimension, int):
                    raise BadTarget(f"'dynamic' of {name!r}: write {{dimension: 'name'}}, as in {{0: 'batch'}}")
                if not -tensor.dim() <= dimension < tensor.dim():
                    raise BadTarget(f"'dynamic' of {name!r}: there is no dimension {dimension}")
                at = dimension % tensor.dim()
                try:
                    size = size_of(given_size, f"{name}{at}")
                except BadTarget as error:
                    raise BadTarget(f"'dynamic' of {name!r}: {error}") from None
                if size is None:
                    continue
                if is_dim(size):
                    allowed, size = _range(size), size.__name__
                    ranges |= {size: allowed} if allowed is not None else {}
                if sizes.setdefault(size, tensor.shape[at]) != tensor.shape[at]:
                    raise BadTarget(f"{size!r} is {sizes[size]} and, in {name!r}, {tensor.shape[at]}")
                marks.append((place, at, size))
    small = next((name for name, size in sizes.items() if size < 2), None)
    if small:
        raise BadTarget(
            f"{small!r} is {sizes[small]} in the call; torch takes a size below 2 for a constant: use 2 or more"
        )
    outside = next(
        (name for name, (least, most) in ranges.items() if not least <= sizes[name] <= (most or _MOST)), None
    )
    if outside:
        raise BadTarget(f"{outside!r} is {sizes[outside]} in the call, which is outside of its range")
    return marks, sizes, ranges


def by_parameter(signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call by parameter. Raises BadTarget if they do not fit."""
    try:
        given = dict(signature.bind(*args, **kwargs).arguments)
    except TypeError as error:
        raise BadTarget(f"the inputs do not fit the model: {error}") from None
    for name, parameter in signature.parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            given |= given.pop(name, {})
    return given


def _pairs(value: Any, place: Any, wanted: Any, name: str) -> Iterator[tuple[Any, int, Mapping[Any, Any]]]:
    if wanted is None:
        return
    if isinstance(value, torch.Tensor) and isinstance(wanted, Mapping):
        yield value, place, wanted
    elif isinstance(value, Mapping) and isinstance(wanted, Mapping):
        for key, part in wanted.items():
            if key not in value:
                raise BadTarget(f"'dynamic' of {name!r}: the call gives no {key!r}")
            yield from _pairs(value[key], place[key], part, name)
    elif isinstance(value, (list, tuple)) and isinstance(wanted, (list, tuple)) and len(value) == len(wanted):
        for one, at, part in zip(value, place, wanted):  # noqa: B905 - the lengths are equal
            yield from _pairs(one, at, part, name)
    else:
        raise BadTarget(f"'dynamic' of {name!r} does not have the structure of the value")
