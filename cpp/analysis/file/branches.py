"""Branches that conditions decide, and the effects of their sides."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tree_sitter import Node

from ...syntax.tree import Tree, ancestors

_GIVES_UP = re.compile(
    r"(?:\{\s*)?(?:return\s*(?:false|true|nullptr|std::nullopt|-?\d+|\{\s*\})?\s*;|throw\b[^;]*;|TORCH_CHECK\w*\(\s*false\b[^;]*;"
    r"|(?:AT|TORCH)_ERROR\([^;]*;)\s*(?:\})?\Z",
    re.DOTALL,
)


@dataclass(frozen=True)
class Branch:
    """An ``if`` or a conditional expression: the side taken if the condition holds, and the other side, if written."""

    node: Node
    consequence: Node
    alternative: Node | None


def branch_of(node: Node) -> Branch | None:
    """Return the branch that a comparison decides through ``&&``, ``||`` and parentheses, or None if it is negated."""
    inner = node
    for around in ancestors(node):
        if around.type in ("parenthesized_expression", "condition_clause"):
            inner = around
            continue
        operator = around.child_by_field_name("operator")
        if around.type == "binary_expression" and operator is not None and operator.type in ("&&", "||"):
            inner = around
            continue
        condition, consequence = around.child_by_field_name("condition"), around.child_by_field_name("consequence")
        if condition is None or consequence is None or condition.id != inner.id:
            return None
        return Branch(around, consequence, around.child_by_field_name("alternative"))
    return None


def gives_up(tree: Tree, side: Node) -> bool:
    """Return whether a side of a branch only returns a constant or raises."""
    inner = side.named_children[0] if side.type == "else_clause" and side.named_children else side
    return _GIVES_UP.match(tree.text(inner)) is not None
