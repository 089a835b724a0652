"""Variations of torch's own samples: changed arguments that reach rare branches and make checks fail."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import torch
from torch.utils import _pytree as pytree

from .samples import Sample, attempt, digest, samples_of

BASES = 16
MOST = 800
_VALUES = 4
_DTYPES = (torch.float64, torch.int64, torch.complex64, torch.bool, torch.bfloat16)
_NUMBERS = 4096

Inputs = tuple[tuple[Any, ...], dict[str, Any]]
Address = tuple[int, int | str]
"""Address of an argument: (0, its position) or (1, its keyword)."""


def varied_samples_of(operator: Any) -> list[Sample]:
    """Return at most `MOST` calls made from an OpInfo's samples, with an equal share for each kind of variation.

    The samples come first. One argument takes its value from another sample, or one other than its default. Numbers,
    switches, sizes, dimensions and dtypes change. Inputs are not contiguous, or in mkldnn layout, with the numbers
    changed too. The call is the ``out=``, the in-place or the method form.
    """
    drawn = samples_of(operator)
    bases = drawn if len(drawn) <= BASES else [drawn[number * len(drawn) // BASES] for number in range(BASES)]
    known = _known_values(drawn)
    defaults = _defaults(operator)
    kinds: list[Iterator[Sample]] = [
        iter(bases),
        _each(bases, lambda base: _beside_defaults(base, defaults)),
        _each(bases, lambda base: _exchanged(base, known)),
        _each(bases, _resized),
        _each(bases, _other_numbers),
        _each(bases, _other_dtypes),
        _each(bases, _scattered),
        _each(bases, lambda base: _in_turn([_scattered(other) for other in _other_numbers(base)])),
        _each(bases, lambda base: _forms(base, operator)),
    ]
    return list(itertools.islice(_in_turn(kinds), MOST))


def _each(bases: list[Sample], vary: Callable[[Sample], Iterator[Sample]]) -> Iterator[Sample]:
    """Yield the variations of all bases, round-robin."""
    return _in_turn([vary(base) for base in bases])


def _in_turn(sources: Iterable[Iterator[Sample]]) -> Iterator[Sample]:
    left = list(sources)
    while left:
        for source in list(left):
            try:
                yield next(source)
            except StopIteration:
                left.remove(source)


def _known_values(drawn: list[Sample]) -> dict[Address, list[Any]]:
    """Return, for each argument, up to `_VALUES` different values that it has in some sample."""
    known: dict[Address, dict[str, Any]] = {}
    for sample in drawn:
        for address, value in _arguments(sample.inputs()):
            values = known.setdefault(address, {})
            word = digest(value)
            if word not in values and len(values) < _VALUES:
                values[word] = value
    return {address: list(values.values()) for address, values in known.items()}


def _arguments(inputs: Inputs) -> Iterator[tuple[Address, Any]]:
    args, kwargs = inputs
    yield from (((0, number), value) for number, value in enumerate(args))
    yield from (((1, name), value) for name, value in kwargs.items())


def _with(base: Sample, address: Address, value: Any) -> Sample:
    args, kwargs = base.inputs()
    place, name = address
    if place == 0:
        position = int(name)
        return Sample(base.function, (*args[:position], value, *args[position + 1 :]), kwargs)
    return Sample(base.function, args, {**kwargs, str(name): value})


def _exchanged(base: Sample, known: dict[Address, list[Any]]) -> Iterator[Sample]:
    own = dict(_arguments(base.inputs()))
    for round_number in range(_VALUES):
        for address, values in known.items():
            if address == (0, 0) or (address[0] == 0 and address not in own) or round_number >= len(values):
                continue
            value = values[round_number]
            if address not in own or digest(own[address]) != digest(value):
                yield _with(base, address, value)


def _defaults(operator: Any) -> dict[str, Any]:
    """Return the arguments with a default of the Python function, or else of the operator's overloads."""
    try:
        parameters = inspect.signature(operator.op).parameters.values()
    except (TypeError, ValueError):
        packet = getattr(torch.ops.aten, getattr(operator, "aten_name", "") or "", None)
        overloads = [getattr(packet, name) for name in packet.overloads()] if packet is not None else []
        arguments = [argument for overload in overloads for argument in overload._schema.arguments]
        return {argument.name: argument.default_value for argument in arguments if argument.has_default_value()}
    return {one.name: one.default for one in parameters if one.default is not inspect.Parameter.empty}


def _beside_defaults(base: Sample, defaults: dict[str, Any]) -> Iterator[Sample]:
    own = {name for (_, name), _ in _arguments(base.inputs())}
    for name, default in defaults.items():
        if name not in own:
            for other in _others(default):
                yield _with(base, (1, name), other)


def _resized(base: Sample) -> Iterator[Sample]:
    return _in_turn([_resized_argument(base, address, tensor) for address, tensor in _strided(base)])


def _resized_argument(base: Sample, address: Address, tensor: Any) -> Iterator[Sample]:
    yield _with(base, address, tensor.unsqueeze(0).clone())
    if tensor.dim() and tensor.shape[0]:
        yield _with(base, address, tensor.select(0, 0).clone())
    for dimension in range(min(4, tensor.dim())):
        size = tensor.shape[dimension]
        for other in dict.fromkeys((size + 1, 0, 1)):
            if other != size and tensor.numel() <= _NUMBERS:
                yield _with(base, address, _with_size(tensor, dimension, other))


def _with_size(tensor: Any, dimension: int, size: int) -> Any:
    shape = list(tensor.shape)
    shape[dimension] = size
    wanted, flat = torch.Size(shape).numel(), tensor.reshape(-1)
    if not flat.numel():
        return tensor.new_zeros(shape)
    return flat.repeat(-(-wanted // flat.numel()))[:wanted].reshape(shape).clone()


def _other_numbers(base: Sample) -> Iterator[Sample]:
    return _in_turn([_other_values(base, *argument) for argument in _arguments(base.inputs())])


def _other_values(base: Sample, address: Address, value: Any) -> Iterator[Sample]:
    for other in _others(value):
        yield _with(base, address, other)
    if isinstance(value, torch.Tensor) and address != (0, 0):
        yield _with(base, address, None)


def _others(value: Any) -> list[Any]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [other for other in (0, 1, value + 1, -value - 1) if other != value]
    if isinstance(value, float):
        return [value / 2 + 0.25, 0.0, -value - 1.0, 1.0]
    if isinstance(value, (list, tuple)) and value and all(type(item) is int for item in value):
        kind = type(value) if type(value) in (list, tuple) else tuple
        more = [value[0] + 1, *value[1:]], [*value[:-1], value[-1] - 1], [*value, 1], [*value[1:]], [*reversed(value)]
        return [kind(other) for other in more]
    return []


def _other_dtypes(base: Sample) -> Iterator[Sample]:
    for dtype in _DTYPES:
        args, kwargs = pytree.tree_map_only(torch.Tensor, partial(_cast, dtype), base.inputs())
        yield Sample(base.function, args, kwargs)
        for address, tensor in _strided(base):
            if tensor.dtype is not dtype:
                yield _with(base, address, tensor.to(dtype))


def _cast(dtype: Any, tensor: Any) -> Any:
    return tensor.to(dtype)


def _scattered(base: Sample) -> Iterator[Sample]:
    """Yield the same values in other memory layouts: every second element, permuted, channels last, mkldnn."""
    for spread in (_every_second, _backwards, _channels_last):
        args, kwargs = pytree.tree_map_only(torch.Tensor, spread, base.inputs())
        yield Sample(base.function, args, kwargs)
    yield Sample(partial(_on_blocked, base.function), *base.inputs())


def _every_second(tensor: Any) -> Any:
    if tensor.layout is not torch.strided or not tensor.dim():
        return tensor
    wide = tensor.new_zeros((*tensor.shape, 2))
    wide[..., 0] = tensor
    return wide[..., 0]


def _backwards(tensor: Any) -> Any:
    if tensor.layout is not torch.strided or tensor.dim() < 2:
        return tensor
    order = list(reversed(range(tensor.dim())))
    return tensor.permute(order).contiguous().permute(order)


def _channels_last(tensor: Any) -> Any:
    order = {4: torch.channels_last, 5: torch.channels_last_3d}.get(tensor.dim())
    if tensor.layout is not torch.strided or order is None:
        return tensor
    return tensor.clone(memory_format=order)


def _on_blocked(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call with tensors in mkldnn layout, converted here since such tensors can neither be copied nor compared."""
    args, kwargs = pytree.tree_map_only(torch.Tensor, _blocked, (args, kwargs))
    return pytree.tree_map_only(torch.Tensor, _plain, function(*args, **kwargs))


def _blocked(tensor: Any) -> Any:
    plain = tensor.layout is torch.strided and tensor.dtype is torch.float32 and tensor.dim() and tensor.numel()
    return tensor.to_mkldnn() if plain and torch._C._has_mkldnn else tensor


def _plain(tensor: Any) -> Any:
    return tensor.to_dense() if tensor.is_mkldnn else tensor


def _forms(base: Sample, operator: Any) -> Iterator[Sample]:
    if operator.supports_out:
        result, error = attempt(base.call)
        if not error and isinstance(result, torch.Tensor):
            for out in (result.new_empty(0), torch.zeros_like(result), result.new_zeros(3), result.to(torch.int16)):
                yield _with(base, (1, "out"), out)
    for form in (operator.inplace_variant, operator.method_variant):
        if form is not None and form is not operator.op:
            args, kwargs = base.inputs()
            yield Sample(form, args, kwargs)


def _strided(base: Sample) -> list[tuple[Address, Any]]:
    return [
        (address, value)
        for address, value in _arguments(base.inputs())
        if isinstance(value, torch.Tensor) and value.layout is torch.strided
    ]
