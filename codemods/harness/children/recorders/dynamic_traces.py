"""Traces of one call with chosen dynamic dimensions.

The module imports nothing of symfix, since projects under test load it too.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import logging
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import torch
from torch.utils import _pytree as pytree

from .captures import ModuleOfCall, compiled, copied, same_leaves


class BadDimensions(ValueError):
    """Error for dimensions that the call does not have. ``str()`` is one line."""


def trace_call(
    function: Any, args: Any, kwargs: Any, dynamic: Mapping[str, Collection[int]], ways: Collection[str]
) -> Iterator[tuple[str, BaseException]]:
    """Yield the ways that fail, each with its error.

    ``ways`` are names of `WAYS`. ``dynamic`` names the dynamic dimensions by parameter. A trace with another result
    than eager fails. Raises BadDimensions.
    """
    _marked(function, args, kwargs, dynamic)
    # Tests that run later draw the same numbers as without this.
    with torch.random.fork_rng(devices=[]):
        given, named = copied(args, kwargs)
        torch.manual_seed(0)
        expected = pytree.tree_leaves(function(*given, **named))
        for way in ways:
            torch._dynamo.reset()
            given, named = copied(args, kwargs)
            marked = _marked(function, given, named, dynamic)
            torch.manual_seed(0)
            try:
                with _unlogged():
                    found = pytree.tree_leaves(WAYS[way](function, given, named, marked))
                if not same_leaves(expected, found):
                    raise AssertionError("the result of the traced program differs from eager")
            except Exception as error:
                yield way, error
        torch._dynamo.reset()


@contextlib.contextmanager
def _unlogged() -> Iterator[None]:
    """Log and print nothing in the block: the error has all that torch reports."""
    # Structured logs of torch ignore `logging.disable`, and end if they have no handler.
    structured, disabled = logging.getLogger("torch.__trace"), logging.root.manager.disable
    handlers = structured.handlers[:]
    structured.handlers.clear()
    logging.disable()
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        logging.disable(disabled)
        structured.handlers[:] = handlers


def _marked(function: Any, args: Any, kwargs: Any, dynamic: Mapping[str, Collection[int]]) -> list[tuple[Any, int]]:
    """Return the tensors of a call with their dynamic dimensions."""
    forward = function.forward if isinstance(function, torch.nn.Module) else function
    given = inspect.signature(forward).bind(*args, **kwargs).arguments
    found = []
    for name, dimensions in dynamic.items():
        tensor = given.get(name)
        if not isinstance(tensor, torch.Tensor):
            raise BadDimensions(f"the call has no tensor {name!r}; its arguments are {', '.join(given)}")
        for dimension in dimensions:
            if not 0 <= dimension < tensor.dim():
                raise BadDimensions(f"{name} has no dimension {dimension}: its shape is {tuple(tensor.shape)}")
            if tensor.shape[dimension] < 2:
                raise BadDimensions(f"dimension {dimension} of {name} is dynamic, and needs a size of 2 or more")
            found.append((tensor, dimension))
    return found


def _export(function: Any, args: Any, kwargs: Any, marked: list[tuple[Any, int]]) -> Any:
    shapes: Any = torch.export.ShapesCollection()  # type: ignore[no-untyped-call]
    places: dict[int, tuple[Any, dict[int, Any]]] = {}
    for tensor, dimension in marked:
        places.setdefault(id(tensor), (tensor, {}))[1][dimension] = torch.export.Dim.DYNAMIC
    for tensor, wanted in places.values():
        shapes[tensor] = wanted
    program = torch.export.export(ModuleOfCall(function), (tuple(args), kwargs), dynamic_shapes=shapes)
    return program.module()(tuple(args), kwargs)


def _compile(function: Any, args: Any, kwargs: Any, marked: list[tuple[Any, int]]) -> Any:
    from torch._dynamo.decorators import mark_dynamic

    for tensor, dimension in marked:
        mark_dynamic(tensor, dimension)
    return compiled(function)(*args, **kwargs)


def _compile_unbacked(function: Any, args: Any, kwargs: Any, marked: list[tuple[Any, int]]) -> Any:
    from torch._dynamo.decorators import mark_unbacked

    for tensor, dimension in marked:
        mark_unbacked(tensor, dimension)
    return compiled(function)(*args, **kwargs)


WAYS = {"export": _export, "compile": _compile, "unbacked": _compile_unbacked}
"""Ways to trace: ``torch.export``, ``torch.compile(fullgraph=True)`` with dynamic and with unbacked sizes."""
