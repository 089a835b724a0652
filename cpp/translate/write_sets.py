"""Write sets of statements, determined before the translation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..syntax.tree import every
from .values import Untranslatable

if TYPE_CHECKING:
    from tree_sitter import Node

_CHANGING = frozenset({"push_back", "emplace_back", "insert", "erase", "pop_back", "clear", "resize", "set"})


def assigned(node: Node) -> set[str]:
    """Return the variables that are assigned to below a node."""
    found = set()
    for one in every(node, "assignment_expression", "update_expression"):
        left = one.child_by_field_name("left") or one.child_by_field_name("argument")
        if left is not None and left.type == "identifier":
            found.add(_text(left))
    return found


def changed_lists(node: Node) -> set[str]:
    """Return the lists whose elements or length change below a node."""
    found = set()
    for one in every(node, "assignment_expression", "update_expression"):
        left = one.child_by_field_name("left") or one.child_by_field_name("argument")
        if left is not None and left.type == "subscript_expression":
            found.add(_text(child_field(left, "argument")))
    for one in every(node, "call_expression"):
        function = child_field(one, "function")
        if function.type == "field_expression" and _text(child_field(function, "field")) in _CHANGING:
            found.add(_text(child_field(function, "argument")))
        if _text(function) in ("std::iota", "std::sort", "std::reverse", "std::fill", "std::swap"):
            found |= {_text(one) for one in every(child_field(one, "arguments"), "identifier")}
    return found


def only_out(node: Node, name: str) -> bool:
    """Return whether only results of out functions are assigned to a variable, which are the Tensor it already had."""
    found = [one for one in every(node, "assignment_expression") if _text(child_field(one, "left")) == name]
    return bool(found) and all(
        re.match(rf"at::\w+_out\(\s*{re.escape(name)}\s*,", _text(child_field(one, "right"))) for one in found
    )


def declares(node: Node) -> bool:
    return node.parent is not None and node.parent.type in ("init_declarator", "declaration", "reference_declarator")


def leaves(node: Node) -> bool:
    """Return whether control never continues behind a statement of a case."""
    if node.type in ("break_statement", "return_statement"):
        return True
    if node.type == "if_statement":
        otherwise = node.child_by_field_name("alternative")
        inner = [] if otherwise is None else [one for one in otherwise.named_children if one.type != "comment"]
        return bool(inner) and leaves(child_field(node, "consequence")) and leaves(inner[-1])
    if node.type == "compound_statement":
        inner = [one for one in node.named_children if one.type != "comment"]
        return bool(inner) and leaves(inner[-1])
    words = "".join(_text(node).split())
    return words.startswith(("TORCH_CHECK(false", "C10_THROW_ERROR"))


def _text(node: Node) -> str:
    return (node.text or b"").decode()


def child_field(node: Node, name: str) -> Node:
    """Return the named field of a node. Raise Untranslatable."""
    found = node.child_by_field_name(name)
    if found is None:
        raise Untranslatable(f"a {node.type.replace('_', ' ')} without its {name}", node.start_point[0] + 1)
    return found
