"""Python references of operators that C++ composes, if they are not registered for tracing."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

_KEY = "CompositeImplicitAutograd"
COMPOSING = (_KEY, "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")
"""Dispatch keys of kernels that are composed of other operators. Those of the first key are composed for derivatives
too."""
_CALLED = re.compile(rf"at::_ops::(\w+)::(?:call|redispatch)\(|wrapper_(?:{'|'.join(COMPOSING)})_(\w+)>")
"""Pattern of an operator in a C++ frame: a call from C++ (`hsplit_int`), or the composite kernel of a call from Python
(`int_hsplit`)."""
CALLS = ("at::_ops::", *(f"wrapper_{key}_" for key in COMPOSING))
"""Substrings of the names of C++ functions that identify the called operator."""
_REFERENCES = {
    "fft_": "torch._refs.fft",
    "linalg_": "torch._refs.linalg",
    "special_": "torch._refs.special",
    "": "torch._refs",
}
"""Modules of torch's references, by the prefix of the operator's name."""
_ALSO = "torch._refs.nn.functional"

Reference = tuple[str, int, str, str]
"""File and first line of a reference, its name, and the overloads that it fits. The overloads are separated by blanks,
the requested one first."""


def references(names: Iterable[str]) -> list[Reference]:
    """Return the references of the composite operators in a stack of C++ functions, the innermost first.

    An operator counts under three conditions. C++ composes it for every backend (CompositeImplicitAutograd), Python
    does not do so yet, and Inductor has no lowering of its own for it.
    """
    found = (_reference(overload) for overload in _called(names))
    return list(dict.fromkeys(reference for reference in found if reference is not None))


def composed(names: Iterable[str]) -> list[str]:
    """Return the operators (``aten.hsplit.int``) in a stack of C++ functions that only C++ composes."""
    overloads = [one for one in _called(names) if not _writes(one)]
    return [str(one) for one in overloads if any(_open(one, key) for key in COMPOSING)]


def _called(names: Iterable[str]) -> list[Any]:
    """Return the distinct overloads in a stack."""
    found = (_CALLED.search(name) for name in names)
    overloads = (_overloads().get(one[1] or one[2]) for one in found if one)
    return list(dict.fromkeys(one for one in overloads if one is not None))


@cache
def _reference(overload: Any) -> Reference | None:
    return reference_of(overload)


def reference_of(overload: Any) -> Reference | None:
    """Return the reference that could be registered for ``overload`` and for its siblings with the same reference."""
    function = _function_for(overload)
    if function is None or not _open(overload) or not fits(function, overload):
        return None
    siblings = [getattr(overload.overloadpacket, name) for name in overload.overloadpacket.overloads()]
    same = [one for one in siblings if _open(one) and _function_for(one) is function and fits(function, one)]
    ordered = sorted(same, key=lambda one: one is not overload)
    names = " ".join(str(one) for one in ordered if not _writes(one))
    written = inspect.unwrap(function)
    code = getattr(written, "__code__", None)
    # A function made by a factory has no decorators of its own.
    if code is None or written.__qualname__ != written.__name__ or not names:
        return None
    return code.co_filename, code.co_firstlineno, written.__name__, names


def fits(function: Callable[..., Any], overload: Any) -> bool:
    """Return whether ``function`` accepts the dispatcher's calls, with the same defaults as the schema."""
    try:
        parameters = inspect.signature(function).parameters
    except (ValueError, TypeError):
        return False
    positional = [one for one in parameters.values() if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    asked = [one for one in overload._schema.arguments if not one.kwarg_only]
    named = [one for one in overload._schema.arguments if one.kwarg_only]
    if len(positional) < len(asked) or any(one.name not in parameters for one in named):
        return False
    pairs = [*zip(positional, asked, strict=False), *((parameters[one.name], one) for one in named)]
    given = {parameter.name for parameter, _ in pairs}
    return all(_same_default(*pair) for pair in pairs) and all(
        one.default is not one.empty or one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
        for one in parameters.values()
        if one.name not in given
    )


def _same_default(parameter: Any, argument: Any) -> bool:
    """Return whether the defaults agree, since the dispatcher omits an argument that has its default value."""
    if not argument.has_default_value():
        return True
    if parameter.default is parameter.empty:
        return False
    mine, theirs = (
        tuple(one) if isinstance(one, (list, tuple)) else one for one in (parameter.default, argument.default_value)
    )
    return bool(mine == theirs) and type(mine) is type(theirs)


def _open(overload: Any, key: str = _KEY) -> bool:
    """Return whether only C++ composes the overload, and a Python kernel for ``key`` would make no graph worse."""
    import torch

    if not torch._C._dispatch_has_kernel(overload.name()):
        return False  # registered for TorchScript only
    keys = torch._C.DispatchKey
    composed = torch._C._dispatch_has_kernel_for_dispatch_key(overload.name(), key)
    if not composed or getattr(keys, key) in overload.py_kernels:
        return False
    # With a derivative of its own it stays one operator in the graph, and a meta kernel in Python comes first.
    return overload not in _lowered() if key == _KEY else keys.Meta not in overload.py_kernels


def _writes(overload: Any) -> bool:
    return any(one.alias_info is not None and one.alias_info.is_write for one in overload._schema.arguments)


def _function_for(overload: Any) -> Callable[..., Any] | None:
    """Return the decomposition of the overload or of a sibling, or the reference of its name."""
    from torch._decomp import decomposition_table

    packet = overload.overloadpacket
    table: Mapping[Any, Any] = decomposition_table
    for one in (overload, *(getattr(packet, name) for name in packet.overloads())):
        if one in table:
            return table[one]  # type: ignore[no-any-return]
    return next(_named(packet.__name__), None)


def _named(operator: str) -> Iterator[Callable[..., Any]]:
    for prefix, module in (*_REFERENCES.items(), ("", _ALSO)):
        home: Any = importlib.import_module(module)
        name = operator.removeprefix(prefix)
        if operator.startswith(prefix) and name in home.__all__ and callable(getattr(home, name, None)):
            yield getattr(home, name)


@lru_cache(maxsize=1)
def _lowered() -> Mapping[Any, Any]:
    lowering: Any = importlib.import_module("torch._inductor.lowering")
    return lowering.lowerings  # type: ignore[no-any-return]


@lru_cache(maxsize=1)
def _overloads() -> dict[str, Any]:
    """Return every overload of aten by its names in C++: ``hsplit_int`` and ``int_hsplit`` are the same one."""
    import torch

    found = {}
    for full in torch._C._dispatch_get_all_op_names():
        space, _, rest = full.partition("::")
        name, _, overload = rest.partition(".")
        packet = getattr(torch.ops.aten, name, None) if space == "aten" else None
        one = getattr(packet, overload or "default", None)
        if one is not None:
            found["_".join(filter(None, (name, overload)))] = one
            found.setdefault(f"{overload}_{name}", one)
    return found
