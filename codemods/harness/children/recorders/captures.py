"""Captures of a call: its result under each of torch's tracers, as plain values.

A capture contains the error of a tracer, or the graph breaks, guards and specialized sizes of a trace. The module
imports nothing of symfix, since child processes and projects under test load it too.
"""

from __future__ import annotations

import contextlib
import copy
import importlib
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MethodType
from typing import Any, TypedDict

import torch
from torch.utils import _pytree as pytree

_MESSAGE = 300


class Capture(TypedDict):
    """Result of one tracer. ``error`` is empty if it traced the call."""

    error: str
    breaks: int
    """Number of graph breaks. Only `compile with breaks` allows any."""
    guards: list[str]
    """Conditions on sizes under which the trace is valid, as sympy writes them."""
    specialized: int
    """Number of dynamic sizes that became constants."""
    deviation: str
    """First other size at which a program for all sizes differs from eager, as text, or empty if none was found."""


def capture(function: Any, args: Any, kwargs: Any, tracers: Iterable[str] = ()) -> dict[str, Capture]:
    """Trace a call of a function or module by each of the tracers (default: all of `TRACERS`).

    Each tracer gets its own copy of the arguments. Every dimension of 2 or more of a Tensor is dynamic. If an eager
    call is deterministic, a trace with another result has an error.
    """
    wanted = _repeated(function, args, kwargs)
    return {name: _captured(TRACERS[name], function, args, kwargs, wanted) for name in tracers or TRACERS}


def _repeated(function: Any, args: Any, kwargs: Any) -> Any:
    """Return the leaves of the result of an eager call, or None if it raises or a second call returns another result.

    The second call fills uninitialized memory, so that values read from it differ.
    """
    first = _eager(function, args, kwargs)
    deterministic = torch.are_deterministic_algorithms_enabled()
    only_warns = torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        second = _eager(function, args, kwargs)
    finally:
        torch.use_deterministic_algorithms(deterministic, warn_only=only_warns)
    return first if first is not None and second is not None and same_leaves(first, second) else None


def _eager(function: Any, args: Any, kwargs: Any) -> Any:
    args, kwargs = copied(args, kwargs)
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return pytree.tree_leaves(function(*args, **kwargs))
        except Exception:  # the tracers report it
            return None


def same_leaves(one: Any, other: Any) -> bool:
    """Return whether two lists of leaves are equal, comparing only tensors and plain values."""
    return len(one) == len(other) and all(map(_same, one, other))


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        if (one.dtype, one.layout, one.shape) != (other.dtype, other.layout, other.shape):
            return False
        plain = one.layout == torch.strided and not (one.is_nested or one.is_quantized or one.is_meta or other.is_meta)
        return not plain or torch.allclose(one, other, equal_nan=True)
    if isinstance(one, (bool, int, float, str, type(None))):
        return bool(one == other) or one != one
    return True


def _captured(tracer: Callable[[Any, Any, Any], Any], function: Any, args: Any, kwargs: Any, expected: Any) -> Capture:
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    torch.manual_seed(0)
    error = deviation = ""
    transforms: Any = torch._C._functorch
    depth = transforms.get_dynamic_layer_stack_depth()
    with warnings.catch_warnings(), _environments() as environments:
        warnings.simplefilter("ignore")
        try:
            program = tracer(function, *copied(args, kwargs))
            given, named = copied(args, kwargs)
            torch.manual_seed(0)
            result = pytree.tree_leaves(program(*given, **named))
            if expected is not None and not same_leaves(expected, result):
                error = "the result differs from eager"
            elif tracer is _compile_unbacked and expected is not None:
                deviation = _deviation(program, function, args, kwargs)
        except Exception as raised:
            error = describe(raised)
        finally:
            # A trace that fails inside of `vmap` or `grad` may leave these behind.
            transforms.pop_dynamic_layer_stack_and_undo_to_depth(depth)
    decisions = [] if error else [_decisions(attempts) for attempts in environments.values()]
    guards = sorted({guard for _, found in decisions for guard in found})
    specialized = sum(count for count, _ in decisions)
    breaks = sum(torch._dynamo.utils.counters["graph_break"].values())
    return Capture(error=error, breaks=breaks, guards=guards, specialized=specialized, deviation=deviation)


def _decisions(attempts: list[Any]) -> tuple[int, set[str]]:
    """Return the number of specialized sizes and the guards of one frame.

    A tracer that restarts, or traces in two stages, creates several environments. The one with most specialized sizes
    and guards is used.
    """
    found = [(_specialized(one), {str(guard.expr) for guard in one.guards}) for one in attempts]
    return max(found, key=lambda pair: (pair[0], len(pair[1])))


def _deviation(program: Any, function: Any, args: Any, kwargs: Any) -> str:
    """Return the first other size at which a program and eager give different results, as text, or "" if none."""
    sizes = sorted({size for tensor in _tensors(args, kwargs) for size in tensor.shape if size > 1})
    for size in sizes:
        for other in (0, 1, 2 * size + 1):
            resized = pytree.tree_map(lambda leaf: _resized(leaf, size, other), (args, kwargs))  # noqa: B023
            expected = _eager(function, *resized)
            if expected is None:
                continue
            given, named = copied(*resized)
            torch.manual_seed(0)
            try:
                same = same_leaves(expected, pytree.tree_leaves(program(*given, **named)))
            except Exception as error:
                return f"with {other} in place of {size} it raises {describe(error)}"
            if not same:
                return f"with {other} in place of {size} the result differs from eager"
    return ""


def _resized(leaf: Any, size: int, other: int) -> Any:
    """Return a tensor in which each dimension of ``size`` has size ``other``, with its values repeated or cut off."""
    if not isinstance(leaf, torch.Tensor):
        return leaf
    made = leaf.detach()
    for dimension, own in enumerate(leaf.shape):
        if own == size:
            made = made.index_select(dimension, torch.arange(other) % size)
    return made.contiguous().requires_grad_(leaf.requires_grad)


def _specialized(environment: Any) -> int:
    return sum(bool(value.is_number) for value in environment.replacements.values())


def describe(error: BaseException) -> str:
    """Return the type and the first line of an error, with dynamo's explanation if it has one."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    kept = lines[:1] + [line for line in lines[1:8] if line.startswith(("Explanation:", "Developer debug context:"))]
    return f"{type(error).__name__}: {' '.join(kept)}"[:_MESSAGE]


@contextlib.contextmanager
def _environments() -> Iterator[dict[Any, list[Any]]]:
    """Yield the shape environments that are created in the block, by frame, with duck shaping disabled."""
    from torch._guards import CompileContext
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    config: Any = importlib.import_module("torch.fx.experimental._config")

    found: dict[Any, list[Any]] = {}
    plain = ShapeEnv.__init__

    def recorded(self: Any, *args: Any, **kwargs: Any) -> None:
        found.setdefault(CompileContext.current_compile_id(), []).append(self)
        plain(self, *args, **kwargs)

    ShapeEnv.__init__ = recorded  # type: ignore[method-assign]
    try:
        with config.patch(use_duck_shape=False):
            yield found
    finally:
        ShapeEnv.__init__ = plain  # type: ignore[method-assign]


def copied(args: Any, kwargs: Any) -> tuple[Any, Any]:
    """Return a deep copy, with each Tensor detached from its graph and without copies of modules."""

    def copy_of(leaf: Any) -> Any:
        if isinstance(leaf, torch.nn.Module):
            return leaf
        if isinstance(leaf, torch.Tensor):
            return leaf.detach().clone().requires_grad_(leaf.requires_grad)
        return copy.deepcopy(leaf)

    return pytree.tree_map(copy_of, (args, kwargs))  # type: ignore[no-any-return]


def copied_in_eager(args: Any, kwargs: Any) -> tuple[Any, Any] | None:
    """Return a deep copy of the arguments of an eager call, or None while a tracer runs, or for tensor subclasses."""
    from torch.utils._python_dispatch import _get_current_dispatch_mode

    plain = all(type(tensor) in (torch.Tensor, torch.nn.Parameter) for tensor in _tensors(args, kwargs))
    if not plain or torch.compiler.is_compiling() or _get_current_dispatch_mode() is not None:
        return None
    return copied(args, kwargs)


def _tensors(args: Any, kwargs: Any) -> list[Any]:
    return [leaf for leaf in pytree.tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]


def compiled(function: Any, *, fullgraph: bool = True, dynamic: bool | None = None) -> Any:
    """Return a function that dynamo traces at its first call, without code generation."""
    return torch.compile(function, backend="eager", fullgraph=fullgraph, dynamic=dynamic)


def _compile(function: Any, args: Any, kwargs: Any) -> Any:
    return _traced(compiled(function, dynamic=True), args, kwargs)


def _compile_static(function: Any, args: Any, kwargs: Any) -> Any:
    return _traced(compiled(function, dynamic=False), args, kwargs)


def _compile_with_breaks(function: Any, args: Any, kwargs: Any) -> Any:
    return _traced(compiled(function, fullgraph=False, dynamic=True), args, kwargs)


def _compile_unbacked(function: Any, args: Any, kwargs: Any) -> Any:
    from torch._dynamo.decorators import mark_unbacked

    for tensor in _tensors(args, kwargs):
        for dimension, size in enumerate(tensor.shape):
            if size > 1:
                mark_unbacked(tensor, dimension)
    return _traced(compiled(function), args, kwargs)


def _traced(program: Any, args: Any, kwargs: Any) -> Any:
    """Call a compiled function once, and return it."""
    program(*args, **kwargs)
    return program


def _export(function: Any, args: Any, kwargs: Any, *, strict: bool) -> Any:
    shapes: Any = torch.export.ShapesCollection()  # type: ignore[no-untyped-call]
    for tensor in _tensors(args, kwargs):
        shapes[tensor] = {place: torch.export.Dim.AUTO for place, size in enumerate(tensor.shape) if size > 1}
    program = torch.export.export(ModuleOfCall(function), (tuple(args), kwargs), dynamic_shapes=shapes, strict=strict)
    module = program.module()
    return lambda *args, **kwargs: module(args, kwargs)


def _make_fx(function: Any, args: Any, kwargs: Any) -> Any:
    from torch.fx.experimental.proxy_tensor import make_fx

    leaves, structure = pytree.tree_flatten((args, kwargs))
    places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]

    def called(*tensors: Any) -> Any:
        given = list(leaves)
        for place, tensor in zip(places, tensors):  # noqa: B905 - as many as there are places
            given[place] = tensor
        args, kwargs = pytree.tree_unflatten(given, structure)
        return function(*args, **kwargs)

    # The parameters of a module are real.
    traced = make_fx(called, tracing_mode="symbolic", _allow_non_fake_inputs=True)
    graph = traced(*(leaves[place] for place in places))
    return lambda *args, **kwargs: graph(*_tensors(args, kwargs))


def _script(function: Any, args: Any, kwargs: Any) -> Any:
    return torch.jit.script(function)


class ModuleOfCall(torch.nn.Module):
    """Module that makes one call: `torch.export` accepts modules only, and no sizes of ``**kwargs``.

    The module whose method is called is a submodule, so that its parameters are registered.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        bound = isinstance(function, MethodType) and isinstance(function.__self__, torch.nn.Module)
        self.owner = function.__self__ if isinstance(function, MethodType) and bound else None
        self.function = function.__func__ if isinstance(function, MethodType) and bound else function

    def forward(self, args: Any, kwargs: Any) -> Any:
        if self.owner is None:
            return self.function(*args, **kwargs)
        return self.function(self.owner, *args, **kwargs)


TRACERS: Mapping[str, Callable[[Any, Any, Any], Any]] = {
    "compile": _compile,
    "compile static": _compile_static,
    "compile with breaks": _compile_with_breaks,
    "compile unbacked": _compile_unbacked,
    "export": lambda function, args, kwargs: _export(function, args, kwargs, strict=False),
    "strict export": lambda function, args, kwargs: _export(function, args, kwargs, strict=True),
    "make_fx": _make_fx,
    "script": _script,
}
"""Tracers by name: dynamo (dynamic, static, without ``fullgraph``, unbacked), export, `make_fx`, TorchScript."""
