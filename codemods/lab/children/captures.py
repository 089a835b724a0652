"""Captures of a call: its result under each of torch's tracers, as plain values.

A capture holds the error of a tracer, or the graph breaks, guards and specialized sizes of a trace. The module imports
nothing of symfix, since child processes and projects under test load it too.
"""

from __future__ import annotations

import contextlib
import copy
import importlib
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypedDict

import torch
from torch.utils import _pytree as pytree

_MESSAGE = 300


class Capture(TypedDict):
    """Result of one tracer: ``error`` is empty where it traced the call."""

    error: str
    breaks: int
    """Number of graph breaks; only `compile with breaks` allows any."""
    guards: list[str]
    """Conditions on sizes under which the trace is valid, as sympy writes them."""
    specialized: int
    """Number of dynamic sizes that became constants."""


def capture(function: Any, args: Any, kwargs: Any, tracers: Iterable[str] = ()) -> dict[str, Capture]:
    """Trace a call of a function or module by each of the tracers (default: all of `TRACERS`).

    Each tracer gets its own copy of the arguments. Every dimension of 2 or more of a Tensor is dynamic.
    """
    return {name: _captured(TRACERS[name], function, args, kwargs) for name in tracers or TRACERS}


def _captured(tracer: Callable[[Any, Any, Any], None], function: Any, args: Any, kwargs: Any) -> Capture:
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    torch.manual_seed(0)
    error = ""
    with warnings.catch_warnings(), _environments() as environments:
        warnings.simplefilter("ignore")
        try:
            tracer(function, *_copied(args, kwargs))
        except Exception as raised:
            error = describe(raised)
    # A tracer that starts over, or traces in two stages, makes several; the decisions of the trace are in one of them.
    decisions = [] if error else [(_specialized(one), _guards(one)) for one in environments]
    specialized, guards = max(decisions, key=lambda pair: (pair[0], len(pair[1])), default=(0, []))
    breaks = sum(torch._dynamo.utils.counters["graph_break"].values())
    return Capture(error=error, breaks=breaks, guards=guards, specialized=specialized)


def _guards(environment: Any) -> list[str]:
    return sorted({str(guard.expr) for guard in environment.guards})


def _specialized(environment: Any) -> int:
    return sum(bool(value.is_number) for value in environment.replacements.values())


def describe(error: BaseException) -> str:
    """The type and the first line of an error; of dynamo's also its explanation."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    kept = lines[:1] + [line for line in lines[1:8] if line.startswith(("Explanation:", "Developer debug context:"))]
    return f"{type(error).__name__}: {' '.join(kept)}"[:_MESSAGE]


@contextlib.contextmanager
def _environments() -> Iterator[list[Any]]:
    """The shape environments that are made inside of the block; equal sizes are different symbols."""
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    config: Any = importlib.import_module("torch.fx.experimental._config")

    found: list[Any] = []
    plain = ShapeEnv.__init__

    def recorded(self: Any, *args: Any, **kwargs: Any) -> None:
        found.append(self)
        plain(self, *args, **kwargs)

    ShapeEnv.__init__ = recorded  # type: ignore[method-assign]
    try:
        with config.patch(use_duck_shape=False):
            yield found
    finally:
        ShapeEnv.__init__ = plain  # type: ignore[method-assign]


def _copied(args: Any, kwargs: Any) -> tuple[Any, Any]:
    """A deep copy; a Tensor of a graph is copied without it."""

    def copied(leaf: Any) -> Any:
        if isinstance(leaf, torch.Tensor):
            return leaf.detach().clone().requires_grad_(leaf.requires_grad)
        return copy.deepcopy(leaf)

    return pytree.tree_map(copied, (args, kwargs))  # type: ignore[no-any-return]


def _tensors(args: Any, kwargs: Any) -> list[Any]:
    return [leaf for leaf in pytree.tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]


def _compiled(function: Any, *, fullgraph: bool, dynamic: bool | None) -> Any:
    return torch.compile(function, backend="eager", fullgraph=fullgraph, dynamic=dynamic)


def _compile(function: Any, args: Any, kwargs: Any) -> None:
    _compiled(function, fullgraph=True, dynamic=True)(*args, **kwargs)


def _compile_static(function: Any, args: Any, kwargs: Any) -> None:
    _compiled(function, fullgraph=True, dynamic=False)(*args, **kwargs)


def _compile_with_breaks(function: Any, args: Any, kwargs: Any) -> None:
    _compiled(function, fullgraph=False, dynamic=True)(*args, **kwargs)


def _compile_unbacked(function: Any, args: Any, kwargs: Any) -> None:
    from torch._dynamo.decorators import mark_unbacked

    for tensor in _tensors(args, kwargs):
        for dimension, size in enumerate(tensor.shape):
            if size > 1:
                mark_unbacked(tensor, dimension)
    _compiled(function, fullgraph=True, dynamic=None)(*args, **kwargs)


def _export(function: Any, args: Any, kwargs: Any, *, strict: bool) -> None:
    shapes: Any = torch.export.ShapesCollection()  # type: ignore[no-untyped-call]
    for tensor in _tensors(args, kwargs):
        shapes[tensor] = {place: torch.export.Dim.AUTO for place, size in enumerate(tensor.shape) if size > 1}
    module = function if isinstance(function, torch.nn.Module) else _Function(function)
    torch.export.export(module, tuple(args), kwargs, dynamic_shapes=shapes, strict=strict)


def _make_fx(function: Any, args: Any, kwargs: Any) -> None:
    from torch.fx.experimental.proxy_tensor import make_fx

    leaves, structure = pytree.tree_flatten((args, kwargs))
    places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]

    def called(*tensors: Any) -> Any:
        given = list(leaves)
        for place, tensor in zip(places, tensors):  # noqa: B905 - as many as there are places
            given[place] = tensor
        args, kwargs = pytree.tree_unflatten(given, structure)
        return function(*args, **kwargs)

    make_fx(called, tracing_mode="symbolic")(*(leaves[place] for place in places))


def _script(function: Any, args: Any, kwargs: Any) -> None:
    torch.jit.script(function)


class _Function(torch.nn.Module):
    """`torch.export` accepts modules only."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self._function = function

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)


TRACERS: Mapping[str, Callable[[Any, Any, Any], None]] = {
    "compile": _compile,
    "compile static": _compile_static,
    "compile with breaks": _compile_with_breaks,
    "compile unbacked": _compile_unbacked,
    "export": lambda function, args, kwargs: _export(function, args, kwargs, strict=False),
    "strict export": lambda function, args, kwargs: _export(function, args, kwargs, strict=True),
    "make_fx": _make_fx,
    "script": _script,
}
"""The tracers by name: dynamo (dynamic, static, without ``fullgraph``, unbacked), export, `make_fx`, TorchScript."""
