"""Symbolic values in assignments, increments and decrements."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from ...syntax.tree import walk
from ...syntax.types import INTEGERS, LISTS, Type
from ..graph.dataflow_facts import Fact, Flows, Matches, Puts, Refuses, Requires, Writes, wrapped
from ..graph.graph import Value
from ..graph.reasons import SkipReason
from .conditions import SIMPLE
from .pass_context import Pass

_EFFECTS = frozenset({"call_expression", "update_expression", "assignment_expression"})


def update(p: Pass, node: Node, parent: Node, kind: Type, cause: Value) -> Iterator[Fact]:
    """Yield the facts for a symbolic value that is incremented or decremented."""
    around = parent.parent
    name = p.model.tree.text(node)
    operator = p.model.tree.text(parent).replace(name, "").strip()
    if kind is Type.SYM_ITER:
        yield Flows(cause, parent, kind)
    elif kind is not Type.SYM_INT or around is None or around.type != "expression_statement" or operator != "++":
        yield Refuses(cause, parent, SkipReason.NO_SYMINT_OPERATOR, f"SymInt has no operator {operator}")
    else:
        yield Writes(cause, parent, f"{name} += 1")


def assignment(p: Pass, node: Node, parent: Node, kind: Type, cause: Value, *, used: bool) -> Iterator[Fact]:
    """Yield the facts for a symbolic value on either side of an assignment.

    ``used``: the assignment's own value is used.
    """
    left, right, sign = (parent.child_by_field_name(name) for name in ("left", "right", "operator"))
    if left is None or right is None or sign is None:
        return
    operator = p.model.tree.text(sign)
    if node.id == right.id:
        yield Puts(cause, left, kind)
    if used and operator in ("=", "-=", "%="):
        yield Flows(cause, parent, kind)
    elif used:
        yield Refuses(cause, parent, SkipReason.NO_SYMINT_OPERATOR, f"SymInt's {operator} has no value")
    if node.id != right.id:
        yield from _target(p, parent, (left, sign, right), operator, kind, cause)


def _target(
    p: Pass, parent: Node, parts: tuple[Node, Node, Node], operator: str, kind: Type, cause: Value
) -> Iterator[Fact]:
    """Yield the facts for a symbolic variable that is assigned another value."""
    left, sign, right = parts
    theirs = p.kind_of(right)
    floats = {Type.FLOAT, Type.SYM_FLOAT} if kind is Type.SYM_FLOAT else set()
    refusal = None
    if operator == "=" and kind in LISTS:
        yield Requires(cause, right)
    elif kind in LISTS | {Type.SYM_ITER}:
        refusal = f"the array is changed by {operator}"
    elif operator == "=" and theirs is Type.LONG_LONG:
        return  # a SymInt can be assigned any integer; only its operators are ambiguous for long long
    elif operator == "=" and theirs is Type.UNKNOWN and right.type == "identifier":
        yield Matches(cause, right, frozenset(), SkipReason.MIXED_ASSIGNMENT)
    elif theirs not in INTEGERS | floats:
        detail = f"{p.model.tree.text(right)} is of type {theirs.value}"
        yield Refuses(cause, right, SkipReason.MIXED_ASSIGNMENT, detail)
    elif kind is Type.SYM_FLOAT and operator != "=":
        refusal = f"SymFloat has no operator {operator}"
    elif operator in ("-=", "%=") and any(inner.type in _EFFECTS for inner in walk(left)):
        refusal = f"SymInt has no operator {operator}, and the target can't be named twice"
    elif operator in ("-=", "%="):
        yield Writes(cause, parent, f"= {p.model.tree.text(left)} {operator[0]}", (sign.start_byte, sign.end_byte))
        if right.type not in SIMPLE:
            yield from wrapped(cause, right, "(", ")")
    elif operator not in ("=", "+=", "*=", "/="):
        refusal = f"SymInt has no operator {operator}"
    if refusal is not None:
        yield Refuses(cause, parent, SkipReason.NO_SYMINT_OPERATOR, refusal)
