"""Symbolic values in code that only runs on real data. They are turned back into integers there, which is exact."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from ....codemods.torchapi import available
from ...syntax.tree import ancestors, arguments
from ...syntax.types import HELD, LISTS, Type, is_output_reference
from ..graph.dataflow_facts import Fact, Flows, Refuses, Requires, Writes, wrapped
from ..graph.graph import Value
from ..graph.reasons import SkipReason
from .pass_context import Pass
from .tuples import tied

_COPIED = "C10_AS_INTARRAYREF_SLOW_ALLOC"
"""Macro that guards each size as ``guard_int`` does, so that a symbolic size is still specialized there."""
_KEEP_NOTHING = frozenset({Type.TENSOR, Type.TENSORS, Type.INT, Type.BOOL, Type.FLOAT})
"""Return types of functions that keep no reference to an array argument."""
_PARTS = frozenset(
    {"binary_expression", "parenthesized_expression", "subscript_argument_list", "return_statement", "condition_clause"}
)
_SIMPLE = frozenset({"identifier", "call_expression", "subscript_expression", "field_expression"})


def realize(p: Pass, node: Node, kind: Type, cause: Value, reason: SkipReason) -> Iterator[Fact]:
    """Turn a value back into its concrete type where it is read. ``reason`` is used if that is not possible."""
    tie, source = _tie(p, node), _assigned(p, node)
    if tie is not None:
        yield from tied(p, node, tie, kind, cause)
        return
    if source is not None:
        if kind in LISTS:
            yield Requires(cause, source)
        return
    held = _held(p, node) if kind in HELD else None
    if held is not None:
        if held.type != "field_expression":
            yield Flows(cause, held, HELD[kind])
        return
    if kind is Type.SYM_INT and node.type in _SIMPLE and p.types.type_of(node) is Type.INT and _is_read(p, node):
        yield Writes(cause, node, ".guard_int(__FILE__, __LINE__)", (node.end_byte, node.end_byte))
    elif kind in LISTS and _takes_array(p, node):
        yield from wrapped(cause, node, f"{_COPIED}(", ")")
    else:
        yield Refuses(cause, node, reason, "the value is used in code that only runs on real data")


def _assigned(p: Pass, node: Node) -> Node | None:
    """Return the value that is assigned to ``node`` by ``=``, or None. A SymInt accepts any integer."""
    holder = node.parent
    if holder is None or holder.type != "assignment_expression":
        return None
    left, sign = holder.child_by_field_name("left"), holder.child_by_field_name("operator")
    is_target = left is not None and left.id == node.id and sign is not None and p.model.tree.text(sign) == "="
    return holder.child_by_field_name("right") if is_target else None


def _held(p: Pass, node: Node) -> Node | None:
    """Return the access of an optional, ``*o``, ``o.value()`` or ``o.has_value``, or None for another use."""
    around = node.parent
    if around is not None and around.type == "pointer_expression" and p.model.tree.text(around.children[0]) == "*":
        return around
    name = None if around is None else around.child_by_field_name("field")
    asked = "" if name is None else p.model.tree.text(name)
    return around.parent if around is not None and asked == "value" else around if asked == "has_value" else None


def _tie(p: Pass, node: Node) -> Node | None:
    around = node.parent
    call = around.parent if around is not None and around.type == "argument_list" else None
    return call if call is not None and p.types.callee(call) == "std::tie" else None


def _is_read(p: Pass, node: Node) -> bool:
    around = node.parent
    if around is None:
        return False
    if around.type in _PARTS:
        return True
    if around.type == "init_declarator":
        declared = around.child_by_field_name("declarator")
        return declared is not None and declared.type == "identifier"
    taking = list(_taking(p, node)) if around.type == "argument_list" else []
    return bool(taking) and Type.UNKNOWN not in taking


def _takes_array(p: Pass, node: Node) -> bool:
    """Return whether a callee takes an ``IntArrayRef`` there, which refers to the array only during the call."""
    taking = list(_taking(p, node))
    known = bool(taking) and all(kind is Type.INT_REF for kind in taking)
    return known and available(_COPIED, p.know.min_torch, p.know.api)


def _taking(p: Pass, node: Node) -> Iterator[Type]:
    """Yield the parameter types at an argument's position, for each function that the call may mean."""
    call = next(ancestors(node.parent), None) if node.parent is not None else None
    if call is None or call.type != "call_expression":
        return
    position = next((i for i, value in enumerate(arguments(call)) if value.id == node.id), -1)
    if position < 0:
        return
    for own in p.types.own_functions(call):
        if position < len(own.parameters):
            taken = own.parameters[position]
            refers = taken.type is not Type.INT and own.returns not in _KEEP_NOTHING
            yield Type.UNKNOWN if refers or is_output_reference(taken.type_text) else taken.type
    is_method = p.types.receiver(call) is not None
    for operator in p.types.operators(call):
        listed = operator.method_arguments if is_method else operator.arguments
        plain = listed[position].type.partition("[") if position < len(listed) else ("", "", "")
        if plain[0].rstrip("?") in ("int", "SymInt"):
            yield Type.INT_REF if plain[1] else Type.INT
