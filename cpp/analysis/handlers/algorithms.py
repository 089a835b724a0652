"""Symbolic values passed to functions of the standard library."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from ...syntax.tree import arguments
from ...syntax.types import INTEGERS, Type, is_wide
from ..graph.dataflow_facts import Fact, Flows, Links, Puts, Refuses, Requires, Selects, Writes
from ..graph.graph import Form, Value
from ..graph.reasons import SkipReason
from .pass_context import Pass

_ALGORITHMS = {
    "std::fill": 2,
    "std::copy": 3,
    "std::reverse": 2,
    "std::rotate": 3,
    "std::iter_swap": 2,
    "std::swap_ranges": 3,
}
"""Standard algorithms that only move elements, with how many leading arguments are iterators of one element type."""
_FUNCTOR = re.compile(r"std::(negate|plus|minus|multiplies)<(int64_t)?>(?:\(\)|\{\})")


def standard(p: Pass, call: Node, name: str, position: int, kind: Type, cause: Value) -> Iterator[Fact]:
    """Yield the facts for a symbolic argument of a ``std::`` function.

    Only comparisons, moves, fills and products accept one.
    """
    passed = arguments(call)
    if name in ("std::max", "std::min") and kind is Type.SYM_INT and len(passed) == 2:
        yield from _extremum(p, call, name, (passed[0], passed[1]), cause)
    elif name == "std::accumulate" and kind is Type.SYM_ITER:
        yield from _product(p, call, passed, cause)
    elif name in _ALGORITHMS and kind in (Type.SYM_ITER, Type.SYM_INT):
        for value in passed[: _ALGORITHMS[name]]:
            yield Requires(cause, value)
    elif name == "std::transform" and kind is Type.SYM_ITER:
        yield from _transform(p, call, passed, cause)
    elif name == "std::fill_n" and position != 1 and kind in (Type.SYM_ITER, Type.SYM_INT):
        yield Requires(cause, passed[0])
    elif name == "std::swap":
        for value in passed:
            yield Puts(cause, value, kind)
    else:
        detail = f"nothing says that {name} takes a symbolic value"
        yield Refuses(cause, call, SkipReason.UNKNOWN_CALLEE, detail)


def _extremum(p: Pass, call: Node, name: str, operands: tuple[Node, Node], cause: Value) -> Iterator[Fact]:
    """Yield the facts for ``std::max`` or ``std::min``.

    ``std::max(a, b)`` branches on ``<``, and ``a.max(b)`` does not.
    """
    function = call.child_by_field_name("function")
    named = re.search(r"<.*>", p.model.tree.text(function), re.DOTALL) if function is not None else None
    if named is not None and not is_wide(named[0]):
        yield Refuses(cause, call, SkipReason.CAST, f"the values are cast by {name}{named[0]}")
        return
    for operand in operands:
        kind = p.kind_of(operand)
        if kind not in INTEGERS - {Type.UNSIGNED}:
            detail = f"{p.model.tree.text(operand)} is of type {kind.value}"
            yield Refuses(cause, call, SkipReason.UNKNOWN_OPERAND, detail)
            return
    value = Value(Form.CALL, call.id)
    yield Links(cause, value)
    yield Selects(value, call, name.removeprefix("std::"), operands)
    yield Flows(value, call, Type.SYM_INT)


def _transform(p: Pass, call: Node, passed: list[Node], cause: Value) -> Iterator[Fact]:
    """Yield the facts for ``std::transform`` that negates each element or combines two lists.

    The functor names the type.
    """
    functor = passed[-1]
    text = p.model.tree.text(functor)
    found = _FUNCTOR.fullmatch(text)
    if found is None or len(passed) != (4 if found[1] == "negate" else 5):
        yield Refuses(cause, call, SkipReason.UNKNOWN_CALLEE, "nothing says that std::transform takes a symbolic value")
        return
    for iterator in passed[:-1]:
        yield Requires(cause, iterator)
    if found[2]:
        start = functor.start_byte + found.start(2)
        yield Writes(cause, functor, "c10::SymInt", (start, start + len(found[2])))


def _product(p: Pass, call: Node, passed: list[Node], cause: Value) -> Iterator[Fact]:
    text = p.model.tree.text
    is_product = len(passed) == 4 and re.fullmatch(
        r"std::multiplies<[^<>]*>(?:\(\)|\{\})", re.sub(r"\s", "", text(passed[3]))
    )
    starts_at_one = len(passed) == 4 and re.fullmatch(
        r"(?:static_cast<int64_t>\()?(?:int64_t\{?\(?)?1(?:[lL]{0,2})[)}]*", text(passed[2])
    )
    function = call.child_by_field_name("function")
    if not is_product or not starts_at_one or function is None:
        detail = "the elements are combined in a way that is no plain product"
        yield Refuses(cause, call, SkipReason.UNKNOWN_CALLEE, detail)
        return
    for iterator in passed[:2]:
        yield Requires(cause, iterator)
    value = Value(Form.CALL, call.id)
    yield Links(cause, value)
    yield Writes(value, function, "c10::multiply_integers")
    yield Writes(value, call, "", (passed[1].end_byte, passed[3].end_byte))
    yield Flows(value, call, Type.SYM_INT)
