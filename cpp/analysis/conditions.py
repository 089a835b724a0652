"""A size where a condition stands: truth, and the bounds of loops."""

from __future__ import annotations

from tree_sitter import Node

from ..syntax.tree import ancestors, field
from ..syntax.types import HELD, Type
from .flow import Entity, Flow

SIMPLE = frozenset(
    {"identifier", "call_expression", "number_literal", "subscript_expression", "parenthesized_expression"}
)
"""Expressions that another operator can be put beside without parentheses."""


def truth(p: Flow, node: Node, kind: Type, cause: Entity) -> None:
    """An integer tested for truth: a SymInt has to be compared with 0."""
    if kind in HELD:
        return
    if kind is not Type.SYM_INT or node.type not in SIMPLE | {"field_expression"}:
        p.conflict(cause, node, "no-symint-operator", "the value is tested for truth")
    elif loop_of(node) is not None:
        bound(p, node, cause)
    else:
        p.splice(cause, node, node.end_byte, node.end_byte, " != 0")


def bound(p: Flow, node: Node, cause: Entity) -> None:
    """A loop runs as often as the value says: no loop over a symbolic count can be traced."""
    p.conflict(cause, node, "loop-bound", "a loop runs as often as the value says")


def loop_of(node: Node) -> Node | None:
    """The loop whose condition a boolean expression is part of, or None."""
    inner = node
    for around in ancestors(node):
        if around.type in ("parenthesized_expression", "unary_expression", "binary_expression", "condition_clause"):
            inner = around
            continue
        if around.type in ("for_statement", "while_statement", "do_statement"):
            condition = field(around, "condition")
            return around if condition is not None and condition.id == inner.id else None
        return None
    return None
