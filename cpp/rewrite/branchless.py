"""Branches on an order of sizes with equivalent sides: a divisor clamped to 0, and a reordered product."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tree_sitter import Node

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Fix, Safety
from ..analysis.file.comparisons import comparison
from ..analysis.file.file_analysis import FileAnalysis
from ..syntax.declarations import Function
from ..syntax.tree import every
from ..syntax.types import Type
from .sym_bool import as_method

NAME = "alternative"
_PRODUCTS = frozenset({"at::matmul", "matmul", "at::mm", "mm", "at::bmm", "bmm"})


def divided_by(know: FileAnalysis, function: Function) -> Iterator[Fix]:
    """Yield the fix of ``if (d <= 0) …; else x / d`` of a SymFloat: the else side, with ``d.max(0)``.

    If an undecided divisor is not larger than 0 at run time, the division by 0 raises in Python. No result is wrong.
    """
    text = know.model.tree.text
    for branch in every(function.body, "if_statement"):
        node, other = _condition(branch), branch.child_by_field_name("alternative")
        if node is None or other is None or node.type != "binary_expression":
            continue
        subject, sign, bound = (node.child_by_field_name(name) for name in ("left", "operator", "right"))
        if subject is None or sign is None or bound is None or subject.type != "identifier":
            continue
        if text(sign) not in ("<", "<=") or text(bound) != "0" or not _is_sym_float(know, subject):
            continue
        uses = [one for one in every(other, "identifier") if text(one) == text(subject)]
        if not uses or not all(_divides(know, one) for one in uses):
            continue
        method = {"<": "sym_lt", "<=": "sym_le"}[text(sign)]
        asked = f"TORCH_GUARD_OR_FALSE({text(subject)}.{method}(0))"
        edits = [Edit(node.start_byte, node.end_byte, asked.encode())]
        edits += [Edit(one.end_byte, one.end_byte, b".max(0)") for one in uses]
        words = f"an undecided `{text(node)}` is taken as false, and `{text(subject)}` is held at 0 where it divides"
        message = f"hold the divisor `{text(subject)}` at 0"
        yield Fix(NAME, 2, Safety.UNSAFE, tuple(edits), message, function.name, words)


def multiplied_in_order(know: FileAnalysis, function: Function) -> Iterator[Fix]:
    """Yield the fix of ``m >= n ? a @ (b * c) : (a * b) @ c``: the first side. Both compute the same product."""
    text = know.model.tree.text
    fixes = []
    for choice in every(function.body, "conditional_expression"):
        node, one, other = _condition(choice), *(choice.child_by_field_name(s) for s in ("consequence", "alternative"))
        if node is None or one is None or other is None or not _same_product(know, one, other):
            continue
        found = comparison(know.types, node, of_sizes=False)
        if found is None:
            continue
        edits = as_method(know.types, found, around=("TORCH_GUARD_OR_TRUE(", ")"))
        words = f"an undecided `{text(node)}` is taken as true: both sides multiply the same, in another order"
        message = f"multiply in either order where `{text(node)}` is undecided"
        fixes.append(Fix(NAME, 2, Safety.UNSAFE, tuple(edits), message, function.name, words))
    yield from fixes


def _condition(branch: Node) -> Node | None:
    node = branch.child_by_field_name("condition")
    while node is not None and node.type in ("condition_clause", "parenthesized_expression"):
        node = node.named_children[0] if node.named_child_count == 1 else None
    return node


def _is_sym_float(know: FileAnalysis, node: Node) -> bool:
    """Return whether a value is a SymFloat, by its type or by an operand of its computation."""
    if know.types.type_of(node) is Type.SYM_FLOAT:
        return True
    if node.type == "identifier":
        held = know.model.resolved[node]
        return held is not None and len(held.initializers) == 1 and _is_sym_float(know, held.initializers[0])
    if node.type == "binary_expression":
        sides = [node.child_by_field_name(name) for name in ("left", "right")]
        return any(side is not None and side.type != "identifier" and _is_sym_float(know, side) for side in sides)
    callee = node.child_by_field_name("function") if node.type == "call_expression" else None
    return callee is not None and know.model.tree.text(callee).rpartition("::")[2] == "SymFloat"


def _divides(know: FileAnalysis, use: Node) -> bool:
    around = use.parent
    if around is None or around.type != "binary_expression":
        return False
    sign, divisor = around.child_by_field_name("operator"), around.child_by_field_name("right")
    return sign is not None and know.model.tree.text(sign) == "/" and divisor is not None and divisor.id == use.id


def _same_product(know: FileAnalysis, one: Node, other: Node) -> bool:
    """Return whether both sides compute the same product.

    Matrix products are associative, and a factor scales rows or columns.
    """
    text = know.model.tree.text
    called = {text(callee) for side in (one, other) for callee in _callees(side)}
    outermost = {text(callee) for side in (one, other) if (callee := side.child_by_field_name("function")) is not None}
    if len(outermost) != 1 or not outermost <= _PRODUCTS:
        return False
    methods = {name.rpartition(".")[2] for name in called if name not in _PRODUCTS}
    if not methods <= {"unsqueeze"}:
        return False
    signs = [sign for side in (one, other) for node in every(side, "binary_expression") for sign in _sign(node)]
    return all(text(sign) == "*" for sign in signs) and _operands(know, one) == _operands(know, other)


def _callees(side: Node) -> Iterator[Node]:
    for call in every(side, "call_expression"):
        callee = call.child_by_field_name("function")
        if callee is not None:
            yield callee


def _operands(know: FileAnalysis, side: Node) -> Counter[str]:
    """Return the multiplied Tensors by name. The unsqueezed dimension belongs to the order and is ignored."""
    tensors = (node for node in every(side, "identifier") if know.types.type_of(node) is Type.TENSOR)
    return Counter(know.model.tree.text(node) for node in tensors)


def _sign(node: Node) -> Iterator[Node]:
    sign = node.child_by_field_name("operator")
    if sign is not None:
        yield sign
