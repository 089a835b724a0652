"""Comparisons of sizes as SymBool expressions: what asks a question without forcing its answer."""

from __future__ import annotations

from dataclasses import dataclass

from tree_sitter import Node

from ..codemods.edits import Edit
from ._conditions import SIMPLE
from ._infer import SYMBOLIC_CALLS, Inference
from ._promote import INTEGERS
from ._tree import Tree, field, walk
from ._types import Type

_METHODS = {"==": "sym_eq", "!=": "sym_ne", "<": "sym_lt", "<=": "sym_le", ">": "sym_gt", ">=": "sym_ge"}
_MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_SIGNS = {method: sign for sign, method in _METHODS.items()}
_SMALLEST_GENERAL_SIZE = 2


@dataclass(frozen=True)
class Comparison:
    """``subject sign other``, where ``subject`` is a SymInt."""

    node: Node
    subject: Node
    sign: str
    other: Node


def comparison(types: Inference, node: Node) -> Comparison | None:
    """The comparison of a size that an expression is, turned so that the SymInt comes first; else None.

    A SymInt that the caller passed for something else (an index to ignore, a count of groups) is no size.
    """
    while node.type == "parenthesized_expression" and node.named_child_count == 1:
        node = node.named_children[0]
    left, right, sign = field(node, "left"), field(node, "right"), field(node, "operator")
    if node.type != "binary_expression" or left is None or right is None or sign is None:
        return None
    operator = types.model.tree.text(sign)
    kinds = (types.type_of(left), types.type_of(right))
    if operator not in _METHODS or Type.SYM_INT not in kinds or not set(kinds) <= INTEGERS:
        return None
    if not (_comes_from_a_size(types, left) or _comes_from_a_size(types, right)):
        return None
    if kinds[0] is Type.SYM_INT:
        return Comparison(node, left, operator, right)
    return Comparison(node, right, _MIRRORED[operator], left)


def _comes_from_a_size(types: Inference, node: Node, seen: frozenset[int] = frozenset()) -> bool:
    for inner in walk(node):
        if inner.type == "call_expression":
            method = types.receiver(inner)
            if method is not None and method[1] in SYMBOLIC_CALLS and types.is_tensor(method[0]):
                return True
        elif inner.type == "identifier":
            held = types.model.resolve(inner)
            if held is not None and held.node.id not in seen:
                beyond = seen | {held.node.id}
                if any(_comes_from_a_size(types, value, beyond) for value in held.initializers):
                    return True
    return False


def as_method(types: Inference, found: Comparison, around: tuple[str, str] = ("", "")) -> tuple[Edit, ...]:
    """The edits that turn ``a == b`` into ``a.sym_eq(b)``, with a text before and one behind."""
    text = types.model.tree.text
    opening, closing = ("", "") if found.subject.type in SIMPLE else ("(", ")")
    called = f"{closing}.{_METHODS[found.sign]}("
    if found.subject.start_byte > found.other.start_byte:
        whole = f"{around[0]}{opening}{text(found.subject)}{called}{text(found.other)}){around[1]}"
        return (Edit(found.node.start_byte, found.node.end_byte, whole.encode()),)
    edits = (
        Edit(found.node.start_byte, found.node.start_byte, f"{around[0]}{opening}".encode()),
        Edit(found.subject.end_byte, found.other.start_byte, called.encode()),
        Edit(found.node.end_byte, found.node.end_byte, f"){around[1]}".encode()),
    )
    return edits if around[0] or opening else edits[1:]


def from_method(types: Inference, node: Node) -> Comparison | None:
    """The comparison that a call such as ``n.sym_eq(0)`` makes, or None."""
    method = types.receiver(node) if node.type == "call_expression" else None
    listed = field(node, "arguments")
    if method is None or method[1] not in _SIGNS or listed is None or listed.named_child_count != 1:
        return None
    return Comparison(node, method[0], _SIGNS[method[1]], listed.named_children[0])


def general_answer(tree: Tree, found: Comparison) -> bool | None:
    """What the comparison says of every size of at least 2, the general case; None when sizes differ in it."""
    text = tree.text(found.other)
    if found.other.type != "number_literal" or not text.isdigit():
        return None
    bound = int(text)
    least = _SMALLEST_GENERAL_SIZE
    answers: dict[str, bool | None] = {
        "==": False if bound < least else None,
        "!=": True if bound < least else None,
        "<": False if bound <= least else None,
        "<=": False if bound < least else None,
        ">": True if bound < least else None,
        ">=": True if bound <= least else None,
    }
    return answers[found.sign]
