"""Comparison of newly registered Python kernels with the C++ composites that they replace, on real tensors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._library.utils import is_functional_schema
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from ..recorders.python_references import COMPOSING
from ..samples.argument_variation import varied_samples_of
from ..samples.samples import Sample, difference, draw, error_samples_of, layout, repeats, samples_of
from ..samples.side_effects import ObservedCall, call_and_watch, differentiated

_KEYS = [getattr(torch._C.DispatchKey, key) for key in COMPOSING]
_COMPARED = ("aliases", "inputs", "random numbers")
_NO_DERIVATIVE = re.compile(r"backward through (prims\.\w+)|backwards not supported on prim")
"""Pattern of torch's error for a prim without a derivative. For a prim that returns a view or mutates an input, the
error does not name it."""

registrations: list[str] = []
"""Operators (``aten.hsplit.int``) that the change registers. They are set for each request before a sample is run."""


def registered(sample: Sample) -> dict[str, Any]:
    """Compare the registered kernels with C++ in one call, and return the result of the protocol.

    Compared are the result, its dtype, strides, conjugation and aliases, the mutated inputs, random numbers and
    gradients. An error must occur on both sides. Its type and text are compared if torch's own tests specify them.
    """
    python, native = _through(sample, in_python=True), _through(sample, in_python=False)
    now, then = call_and_watch(python), call_and_watch(native)
    said = _deviation(now, then, sample.refusal, values=not then.error and repeats(native.call, then.result))
    if not said and not then.error:
        said = _gradients(python, native)
    return {"passed": not said, "error": said}


def undifferentiable(sample: Sample, error: str) -> list[Any]:
    """Return the Python frames, innermost last, that call the operator without a derivative named by ``error``."""
    found = _NO_DERIVATIVE.search(error)
    if found is None:
        return []
    mode = _Watching(found[1] or "")
    args, kwargs = _through(sample, in_python=True).inputs()
    with mode, _composed(in_python=True), enable_python_dispatcher():
        sample.function(*args, **kwargs)
    return mode.frames


def samples_for_registered(operator: Any) -> list[Sample]:
    """Return every sample of every dtype, the error inputs, the samples at sizes of 0 and 1, and their variations."""
    dtypes = sorted(operator.supported_dtypes("cpu"), key=str)
    drawn = [sample for dtype in dtypes for sample in draw(operator, dtype)]
    small = [sample.resized(lambda _, size=size: size) for size in (0, 1) for sample in samples_of(operator)]  # type: ignore[misc]
    return [*drawn, *error_samples_of(operator), *small, *varied_samples_of(operator)]


def _through(sample: Sample, in_python: bool) -> Sample:
    """Return the same call through the Python dispatcher, with the registered kernels or without."""

    def call(*args: Any, **kwargs: Any) -> Any:
        with _composed(in_python), enable_python_dispatcher():
            return sample.function(*args, **kwargs)

    args, kwargs = sample.inputs()
    return Sample(call, args, kwargs)


@contextmanager
def _composed(in_python: bool) -> Iterator[None]:
    """Run the block with the registered kernels, or with C++ in their place."""
    there = [] if in_python else [(one, key) for one in _overloads() for key in _KEYS if key in one.py_kernels]
    taken = [(overload, key, overload.py_kernels.pop(key)) for overload, key in there]
    _forget(overload for overload, _ in there)
    try:
        yield
    finally:
        for overload, key, kernel in taken:
            overload.py_kernels[key] = kernel
        _forget(overload for overload, _ in there)


def _forget(overloads: Iterable[Any]) -> None:
    for overload in overloads:
        overload._dispatch_cache.clear()


def _overloads() -> Iterator[Any]:
    for name in registrations:
        _, packet, overload = name.split(".")
        yield getattr(getattr(torch.ops.aten, packet), overload)


def _deviation(now: ObservedCall, then: ObservedCall, refusal: str, values: bool) -> str:
    if now.error or then.error:
        return _other_error(now.error, then.error, refusal)
    said = difference(now.result, then.result, values)
    mine, theirs = _strides(now.result), _strides(then.result)
    if not said and mine != theirs:
        said = f"laid out as {mine} where C++ gives {theirs}"
    for what in _COMPARED:
        was, is_now = then.effects.get(what, ""), now.effects.get(what, "")
        if not said and was != is_now:
            said = f"other {what}: {is_now or 'none'} where C++ has {was or 'none'}"
    return said


def _other_error(now: str, then: str, refusal: str) -> str:
    if not now or not then:
        return f"{now or 'no error'} where C++ has {then or 'no error'}"
    if refusal and now.partition(":")[0] != then.partition(":")[0]:
        return f"another error, {now}, where C++ raises {then}"
    if refusal and re.search(refusal, then) and not re.search(refusal, now):
        return f"an error that does not say {refusal!r}: {now}"
    return ""


def _strides(result: Any) -> list[str]:
    """Return `layout` with a stride of 0 for sizes of 1 and for empty tensors, whose strides are irrelevant."""

    def telling(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor) or leaf.layout is not torch.strided:
            return leaf
        pairs = zip(leaf.shape, leaf.stride(), strict=True)
        return [stride if size > 1 and leaf.numel() else 0 for size, stride in pairs]

    marked = layout(pytree.tree_map_only(torch.Tensor, _bare, result))
    return [f"{mark} {telling(leaf)}" for mark, leaf in zip(marked, pytree.tree_leaves(result), strict=True)]


def _bare(tensor: Any) -> Any:
    """Return a scalar tensor with the dtype, device, conjugation and negation of a strided tensor."""
    if tensor.layout is not torch.strided:
        return tensor
    one = torch.empty((), dtype=tensor.dtype, device=tensor.device)
    one = torch._conj(one) if tensor.is_conj() else one
    return torch._neg_view(one) if tensor.is_neg() else one


def _gradients(python: Sample, native: Sample) -> str:
    (now, error), (then, refused) = differentiated(python), differentiated(native)
    if error or refused:
        return "" if error and refused else f"gradients: {error or 'no error'} where C++ has {refused or 'no error'}"
    said = difference(now, then, values=not difference(differentiated(native)[0], then))
    return f"gradients: {said}" if said else ""


class _Watching(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Mode that keeps the Python stack at the first call of a prim.

    Without a ``name``, it is the first prim that returns a view or mutates an input.
    """

    def __init__(self, name: str) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._name = name
        self.frames: list[Any] = []

    def __torch_dispatch__(self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if not self.frames and self._meant(func):
            import traceback

            self.frames = list(traceback.extract_stack())
        return func(*args, **(kwargs or {}))

    def _meant(self, func: Any) -> bool:
        if self._name:
            return str(func).startswith(f"{self._name}.")
        return func.namespace == "prims" and not is_functional_schema(func._schema)
