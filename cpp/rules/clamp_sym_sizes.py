"""Clamp a size without a branch: ``if (n > m) n = m;`` becomes ``n = n.min(m);``.

What: an ``if`` on the order of two sizes whose only statement assigns one of them to the other. Also a conditional
expression that picks the smaller or the larger of the two sizes it compares.

Why: the branch decides which size is the smaller one, and so adds a guard on their order. ``min`` and ``max`` of SymInt
keep both.

What it leaves alone: a branch with an ``else`` or with other statements. Operands whose evaluation may do more than
read a size. A choice that is assigned to or referred to. Kernels.

Safety: safe. Either way the variable holds the smaller, or the larger, of the two.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Rule, Safety
from ...codemods.model.source_file import SourceFile
from ..analysis.file.comparisons import SizeComparison, comparison
from ..analysis.file.file_analysis import knowledge
from ..analysis.file.inference import Inference
from ..analysis.file.methods import SYMBOLIC_CALLS
from ..analysis.file.prefilter import worth_reading
from ..syntax.tree import ancestors, arguments, every
from ..syntax.types import Type

NAME = "clamp_sym_sizes"
_ORDERS = ("<", "<=", ">", ">=")
_PLAIN = ("identifier", "number_literal")


def decide(source: SourceFile, context: Context) -> Iterator[Fix]:
    """Yield one Fix for each branch that only picks one of the two sizes it compares."""
    if not worth_reading(source, context):
        return
    know = knowledge(source, context)
    tree, types = know.model.tree, know.types
    for function in know.eligibility.functions:
        for node in every(function.body, "if_statement", "conditional_expression"):
            if tree.trusted(node) is not None or know.eligibility.in_kernel_code(function, node):
                continue
            new = _clamped(types, node)
            if new is not None:
                edit = Edit(node.start_byte, node.end_byte, new.encode())
                message = f"`{tree.text(_condition(node))}` decides which size is which"
                yield Fix(NAME, 2, Safety.SAFE, (edit,), message, function=function.name)


def _clamped(types: Inference, node: Node) -> str | None:
    """Return the text that replaces a branch, or None if it does more than pick a size."""
    found = comparison(types, _condition(node))
    if found is None or found.sign not in _ORDERS or every(node, "comment"):
        return None
    if not _only_reads(types, found.subject) or not _only_reads(types, found.other):
        return None
    taken = node.child_by_field_name("consequence")
    if node.type == "conditional_expression":
        if _is_place(types, node):
            return None
        picked, left = taken, node.child_by_field_name("alternative")
        pair = None if picked is None or left is None else (types.model.tree.text(picked), types.model.tree.text(left))
        return None if pair is None else _picked(types, found, *pair)
    while taken is not None and taken.type == "compound_statement" and taken.named_child_count == 1:
        taken = taken.named_children[0]
    given = taken.named_children[0] if taken is not None and taken.type == "expression_statement" else None
    if given is None or given.type != "assignment_expression" or node.child_by_field_name("alternative") is not None:
        return None
    target, value = given.child_by_field_name("left"), given.child_by_field_name("right")
    sign = given.child_by_field_name("operator")
    if target is None or value is None or sign is None or sign.type != "=" or types.type_of(target) is not Type.SYM_INT:
        return None
    kept, text = types.model.tree.text(target), types.model.tree.text(value)
    new = _picked(types, found, text, kept)
    return None if target.type != "identifier" or new is None else f"{kept} = {new};"


def _is_place(types: Inference, node: Node) -> bool:
    """Return whether a conditional expression may be used as an lvalue: assigned, referred to, or pointed to."""
    around = node.parent
    while around is not None and around.type == "parenthesized_expression":
        node, around = around, around.parent
    if around is None:
        return False
    if around.type == "init_declarator":
        declarator = around.child_by_field_name("declarator")
        return declarator is not None and declarator.type == "reference_declarator"
    if around.type == "return_statement":
        return _returns_reference(around)
    if around.type == "argument_list":
        return around.parent is None or not types.operators(around.parent)
    left = around.child_by_field_name("left")
    assigned = around.type == "assignment_expression" and left is not None and left.id == node.id
    return assigned or around.type in ("update_expression", "pointer_expression")


def _returns_reference(node: Node) -> bool:
    """Return whether the function or lambda around a place returns a reference."""
    function = next(one for one in ancestors(node) if one.type in ("function_definition", "lambda_expression"))
    declarator = function.child_by_field_name("declarator")
    given = [] if declarator is None else every(declarator, "trailing_return_type")
    return (declarator is not None and declarator.type == "reference_declarator") or any(
        b"&" in (one.text or b"") for one in given
    )


def _picked(types: Inference, found: SizeComparison, taken: str, left: str) -> str | None:
    """Return ``a.min(b)`` or ``a.max(b)`` where ``taken`` is chosen if the comparison holds, and ``left`` if not."""
    subject, other = types.model.tree.text(found.subject), types.model.tree.text(found.other)
    if {taken, left} != {subject, other} or subject == other:
        return None
    smaller = (taken == subject) is (found.sign in ("<", "<="))
    return f"{subject}.{'min' if smaller else 'max'}({other})"


def _only_reads(types: Inference, node: Node) -> bool:
    method = types.receiver(node) if node.type == "call_expression" else None
    if method is None:
        return node.type in _PLAIN
    read = method[1] in SYMBOLIC_CALLS and types.is_tensor(method[0]) and method[0].type in _PLAIN
    return read and all(argument.type in (*_PLAIN, "unary_expression") for argument in arguments(node))


def _condition(node: Node) -> Node:
    found = node.child_by_field_name("condition") or node
    return found.named_children[0] if found.type == "condition_clause" and found.named_child_count == 1 else found


rule = Rule(NAME, Safety.SAFE, "cpp", (b".sym_", b"->sym_"), decide)
