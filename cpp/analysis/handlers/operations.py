"""Symbolic values as operands: arithmetic, comparisons, streams and unary operators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tree_sitter import Node

from ...syntax.tree import arguments
from ...syntax.types import HELD, INTEGERS, LISTS, Type
from ..file.inference import Inference
from ..file.unsigned_counts import counts
from ..graph.dataflow_facts import Fact, Flows, Refuses, Requires, Writes, wrapped
from ..graph.graph import Value
from ..graph.reasons import SkipReason
from .conditions import SIMPLE, loop_of, truth
from .pass_context import Pass

_ARITHMETIC = frozenset({"+", "-", "*", "/", "%"})
_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
_FLOATS = frozenset({Type.FLOAT, Type.SYM_FLOAT})


def is_compared(node: Node) -> bool:
    """Return whether an expression is an operand of a comparison."""
    around = node.parent
    sign = None if around is None or around.type != "binary_expression" else around.child_by_field_name("operator")
    return sign is not None and sign.type in _COMPARISONS


def binary(p: Pass, node: Node, parent: Node, kind: Type, cause: Value) -> Iterable[Fact]:
    """Return the facts for a symbolic operand of a binary expression."""
    left, right, sign = (parent.child_by_field_name(name) for name in ("left", "right", "operator"))
    if left is None or right is None or sign is None:
        return ()
    operator = sign.type
    other = right if left.id == node.id else left
    theirs = p.kind_of(other)
    written = operator == "<<" and _is_stream(p.types, left)
    as_scalar = theirs is Type.TENSOR and kind in (Type.SYM_INT, Type.SYM_FLOAT)
    if written or (as_scalar and operator in _ARITHMETIC | _COMPARISONS):
        return ()
    if operator in ("&&", "||"):
        return truth(node, kind, cause)
    if operator in _COMPARISONS:
        return _comparison(p, node, parent, other, kind, cause)
    if operator not in _ARITHMETIC:
        return (Refuses(cause, parent, SkipReason.NO_SYMINT_OPERATOR, f"SymInt has no operator {operator}"),)
    return _arithmetic(p, parent, operator, (left, right), other, kind, cause)


def _arithmetic(
    p: Pass, parent: Node, operator: str, sides: tuple[Node, Node], other: Node, kind: Type, cause: Value
) -> Iterator[Fact]:
    left, right = sides
    theirs = p.kind_of(other)
    if kind is Type.SYM_ITER and theirs in INTEGERS and operator in ("+", "-"):
        yield Flows(cause, parent, kind)
    elif kind is Type.SYM_INT and _wraps(p, left, right, operator):
        detail = f"an unsigned {operator} wraps where a SymInt is below 0"
        yield Refuses(cause, parent, SkipReason.UNSIGNED_ARITHMETIC, detail)
    elif kind is Type.SYM_INT and theirs in INTEGERS:
        yield Flows(cause, parent, Type.SYM_INT)
    elif {kind, theirs} <= INTEGERS | _FLOATS and operator != "%":
        if kind is Type.SYM_FLOAT and other.id == left.id and theirs not in (Type.SYM_INT, Type.SYM_FLOAT):
            yield from wrapped(cause, other, "c10::SymFloat(", ")")
        yield Flows(cause, parent, Type.SYM_FLOAT)
    else:
        detail = f"the value meets {p.model.tree.text(other)}, whose type is {theirs.value}"
        yield Refuses(cause, parent, SkipReason.UNKNOWN_OPERAND, detail)


def _wraps(p: Pass, left: Node, right: Node, operator: str) -> bool:
    """Return whether an unsigned operation may differ from a SymInt's: the result or an operand may be negative."""
    if Type.UNSIGNED not in (p.types.type_of(left), p.types.type_of(right)) or operator in ("+", "*", "==", "!="):
        return False
    return operator == "-" or not (counts(p.types, left) and counts(p.types, right))


def _is_stream(types: Inference, left: Node) -> bool:
    """Return whether a chain of ``<<`` is output: it starts with a stream or a macro with one, or contains a string."""
    while left.type == "binary_expression" and left.named_child_count == 2:
        if left.named_children[1].type in ("string_literal", "concatenated_string"):
            return True
        left = left.named_children[0]
    handed = arguments(left) if left.type == "call_expression" else []
    return any(types.type_of(node) is Type.STREAM for node in (left, *handed))


def _comparison(p: Pass, node: Node, parent: Node, other: Node, kind: Type, cause: Value) -> Iterator[Fact]:
    left, sign = parent.child_by_field_name("left"), parent.child_by_field_name("operator")
    if left is None or sign is None:
        return
    theirs = p.kind_of(other)
    if loop_of(parent) is not None:
        if kind is not Type.SYM_ITER:
            yield Refuses(cause, parent, SkipReason.LOOP_BOUND)
        else:
            yield Requires(cause, other)
    elif kind in LISTS | {Type.SYM_ITER}:
        yield Requires(cause, other)
    elif _wraps(p, node, other, sign.type):
        detail = "an unsigned comparison wraps where a SymInt is below 0"
        yield Refuses(cause, parent, SkipReason.UNSIGNED_ARITHMETIC, detail)
    elif theirs not in INTEGERS | _FLOATS or (kind is Type.SYM_FLOAT and left.id == other.id):
        detail = f"the value is compared with {p.model.tree.text(other)}, whose type is {theirs.value}"
        yield Refuses(cause, parent, SkipReason.UNKNOWN_OPERAND, detail)


def unary(p: Pass, node: Node, parent: Node, kind: Type, cause: Value) -> Iterator[Fact]:
    """Yield the facts for a symbolic operand of a unary expression."""
    operator = p.model.tree.text(parent.children[0])
    if operator == "-" and kind is Type.SYM_INT and p.types.type_of(node) is Type.UNSIGNED:
        detail = "an unsigned - wraps where a SymInt is below 0"
        yield Refuses(cause, parent, SkipReason.UNSIGNED_ARITHMETIC, detail)
    elif operator == "-" and kind is Type.SYM_INT:
        yield Flows(cause, parent, kind)
    elif operator == "!" and kind is Type.SYM_INT and node.type in SIMPLE and loop_of(parent) is None:
        yield Writes(cause, parent, "", (parent.start_byte, node.start_byte))
        yield Writes(cause, node, " == 0", (node.end_byte, node.end_byte))
        around = parent.parent
        sign = None if around is None else around.child_by_field_name("operator")
        if sign is not None and p.model.tree.text(sign) not in ("&&", "||"):
            detail = "the negated value is compared in turn"
            yield Refuses(cause, parent, SkipReason.NO_SYMINT_OPERATOR, detail)
    elif operator == "*" and (kind is Type.SYM_ITER or kind in HELD):
        yield Flows(cause, parent, HELD.get(kind, Type.SYM_INT))
    elif operator == "!" and kind in HELD:
        return
    else:
        detail = f"{kind.value} has no unary operator {operator}"
        yield Refuses(cause, parent, SkipReason.NO_SYMINT_OPERATOR, detail)
