"""Comparisons of sizes as SymBool expressions, which add no guard."""

from __future__ import annotations

from dataclasses import dataclass

from tree_sitter import Node

from ...syntax.tree import every
from ...syntax.types import INTEGERS, Type
from .inference import Inference
from .methods import SYMBOLIC_CALLS

METHODS = {"==": "sym_eq", "!=": "sym_ne", "<": "sym_lt", "<=": "sym_le", ">": "sym_gt", ">=": "sym_ge"}
"""SymInt methods that compare as an operator does and return a SymBool without a guard."""

_MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_SIGNS = {method: sign for sign, method in METHODS.items()}
_SIZES = frozenset({"sym_size", "sym_sizes", "sym_numel"})


@dataclass(frozen=True)
class SizeComparison:
    """The comparison ``subject sign other``, where ``subject`` is a SymInt."""

    node: Node
    subject: Node
    sign: str
    other: Node


def comparison(types: Inference, node: Node, *, of_sizes: bool = True) -> SizeComparison | None:
    """Return the comparison of an expression, mirrored so that the SymInt comes first, or None if there is no SymInt.

    With ``of_sizes``, one side must come from a size. A SymInt that the caller passed for something else (an ignore
    index, a group count) does not count. Return None too if the operands contain a comment, because it can't be kept.
    """
    while node.type == "parenthesized_expression" and node.named_child_count == 1:
        node = node.named_children[0]
    left, right, sign = (
        node.child_by_field_name("left"),
        node.child_by_field_name("right"),
        node.child_by_field_name("operator"),
    )
    if node.type != "binary_expression" or left is None or right is None or sign is None:
        return None
    operator = types.model.tree.text(sign)
    kinds = (types.type_of(left), types.type_of(right))
    if operator not in METHODS or Type.SYM_INT not in kinds or not set(kinds) <= INTEGERS:
        return None
    if any(child.type == "comment" for child in node.children):
        return None
    if of_sizes and not (_comes_from_a_size(types, left) or _comes_from_a_size(types, right)):
        return None
    if kinds[0] is Type.SYM_INT:
        return SizeComparison(node, left, operator, right)
    return SizeComparison(node, right, _MIRRORED[operator], left)


def _comes_from_a_size(types: Inference, node: Node) -> bool:
    seen: set[int] = set()
    waiting = [node]
    while waiting:
        for inner in every(waiting.pop(), "call_expression", "identifier"):
            if inner.type == "call_expression":
                method = types.receiver(inner)
                if method is not None and method[1] in SYMBOLIC_CALLS and types.is_tensor(method[0]):
                    return True
                continue
            held = types.model.resolved[inner]
            if held is not None and held.node.id not in seen:
                seen.add(held.node.id)
                waiting.extend(held.initializers)
    return False


def from_method(types: Inference, node: Node) -> SizeComparison | None:
    """Return the comparison that a call such as ``n.sym_eq(0)`` makes, or None."""
    method = types.receiver(node) if node.type == "call_expression" else None
    listed = node.child_by_field_name("arguments")
    if method is None or method[1] not in _SIGNS or listed is None or listed.named_child_count != 1:
        return None
    return SizeComparison(node, method[0], _SIGNS[method[1]], listed.named_children[0])


def is_size(types: Inference, node: Node) -> bool:
    """Return whether a value is an unmodified dimension size or number of elements, or a product of such values."""
    seen: set[int] = set()
    waiting = [node]
    while waiting:
        made_from = _made_from(types, waiting.pop(), seen)
        if made_from is None:
            return False
        waiting.extend(made_from)
    return True


def _made_from(types: Inference, node: Node, seen: set[int]) -> list[Node] | None:
    """Return the nodes that must all be sizes for ``node`` to be one. Return None if it can never be one."""
    if node.type == "parenthesized_expression" and node.named_child_count == 1:
        return [node.named_children[0]]
    if node.type == "binary_expression":
        left, right, sign = (
            node.child_by_field_name("left"),
            node.child_by_field_name("right"),
            node.child_by_field_name("operator"),
        )
        is_product = sign is not None and types.model.tree.text(sign) == "*"
        return [left, right] if is_product and left is not None and right is not None else None
    if node.type == "subscript_expression":
        array = node.child_by_field_name("argument")
        return None if array is None else [array]
    if node.type == "call_expression":
        method = types.receiver(node)
        if method is None:
            return None
        if method[1] in _SIZES and types.is_tensor(method[0]):
            return []
        return [method[0]] if method[1] in ("slice", "front", "back") else None
    held = types.model.resolved[node] if node.type == "identifier" else None
    if held is None or len(held.initializers) != 1:
        return None
    if held.node.id in seen:
        return []
    seen.add(held.node.id)
    return [held.initializers[0]]
