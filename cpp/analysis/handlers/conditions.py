"""Sizes as conditions: truth tests and loop bounds."""

from __future__ import annotations

from tree_sitter import Node

from ...syntax.tree import ancestors
from ...syntax.types import HELD, Type
from ..graph.dataflow_facts import Fact, Refuses, Writes
from ..graph.graph import Value
from ..graph.reasons import SkipReason

SIMPLE = frozenset(
    {"identifier", "call_expression", "number_literal", "subscript_expression", "parenthesized_expression"}
)
"""Node types of expressions that can be operands of any operator without parentheses."""


def truth(node: Node, kind: Type, cause: Value) -> tuple[Fact, ...]:
    """Return the facts for an integer tested for truth. A SymInt must be compared with 0."""
    if kind in HELD:
        return ()
    if kind is not Type.SYM_INT or node.type not in SIMPLE | {"field_expression"}:
        return (Refuses(cause, node, SkipReason.NO_SYMINT_OPERATOR, "the value is tested for truth"),)
    if loop_of(node) is not None:
        return (Refuses(cause, node, SkipReason.LOOP_BOUND),)
    return (Writes(cause, node, " != 0", (node.end_byte, node.end_byte)),)


def loop_of(node: Node) -> Node | None:
    """Return the loop whose condition contains a boolean expression, or None."""
    inner = node
    for around in ancestors(node):
        if around.type in ("parenthesized_expression", "unary_expression", "binary_expression", "condition_clause"):
            inner = around
            continue
        if around.type in ("for_statement", "while_statement", "do_statement"):
            condition = around.child_by_field_name("condition")
            return around if condition is not None and condition.id == inner.id else None
        return None
    return None
