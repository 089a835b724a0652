"""Deferral of a ``TORCH_CHECK`` on sizes to run time: its operands become one SymBool."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from tree_sitter import Node

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Fix, Safety
from ..analysis.file.comparisons import METHODS, SizeComparison, comparison
from ..analysis.file.file_analysis import FileAnalysis
from ..syntax.declarations import Function
from ..syntax.tree import arguments, every
from ..syntax.types import Type
from .sym_bool import as_method

_JOINED = {"&&": ("sym_and", "false"), "||": ("sym_or", "true")}
"""SymBool methods for ``&&`` and ``||``, with the truth value of an operand that decides the result."""


def checked_later(rule: str, know: FileAnalysis, call: Node, function: Function) -> Iterator[Fix]:
    """Yield the fix of ``TORCH_CHECK(p && a == b, …)`` → ``TORCH_SYM_CHECK((p) ? a.sym_eq(b) : c10::SymBool(false),
    …)``.

    Known operands come first and are decided first. In a function template, a value of the template's type may be a
    SymInt or a number. ``c10::SymInt(n).sym_eq(m)`` is right for both.
    """
    callee, listed = call.child_by_field_name("function"), arguments(call)
    tree = know.model.tree
    if callee is None or tree.text(callee) != "TORCH_CHECK" or len(listed) < 2 or tree.trusted(call) is not None:
        return
    message = "`{}` can be checked later"
    found = comparison(know.types, listed[0], of_sizes=False) or _unknown(know, listed[0])
    if found is not None:
        edits = (Edit(callee.start_byte, callee.end_byte, b"TORCH_SYM_CHECK"), *as_method(know.types, found))
        yield Fix(rule, 2, Safety.UNSAFE, edits, message.format(tree.text(found.node)), function.name)
        return
    joined = _sym_bool(know, function, listed[0])
    if joined is not None:
        edit = Edit(listed[0].start_byte, listed[0].end_byte, joined.encode())
        both = (Edit(callee.start_byte, callee.end_byte, b"TORCH_SYM_CHECK"), edit)
        yield Fix(rule, 2, Safety.UNSAFE, both, message.format(tree.text(listed[0])), function.name)


def _sym_bool(know: FileAnalysis, function: Function, node: Node) -> str | None:
    """Return a condition as a SymBool, or None if it has no SymInt, or a known operand follows a symbolic one."""
    sign = "||" if len(_operands(know, node, "||")) > 1 else "&&"
    operands = _operands(know, node, sign)
    if len(operands) == 1:
        found = comparison(know.types, operands[0], of_sizes=False) or _unknown(know, operands[0])
        return _method_text(know, found) if found is not None else _of_the_template(know, function, operands[0])
    texts = list(map(partial(_sym_bool, know, function), operands))
    symbolic = [text for text in texts if text is not None]
    known = len(texts) - len(symbolic)
    if not symbolic or None in texts[known:]:
        return None
    method, truth = _JOINED[sign]
    joined = symbolic[0] if len(symbolic) == 1 else _grouped(symbolic[0])
    for text in symbolic[1:]:
        joined = f"{joined}.{method}({text})"
    if not known:
        return joined
    condition = f" {sign} ".join(know.model.tree.text(operand) for operand in operands[:known])
    decided = f"c10::SymBool({truth})"
    sides = f"{_grouped(joined)} : {decided}" if sign == "&&" else f"{decided} : {_grouped(joined)}"
    return f"({condition}) ? {sides}"


def _grouped(text: str) -> str:
    return f"({text})" if " ? " in text else text


def _unknown(know: FileAnalysis, node: Node) -> SizeComparison | None:
    """Return the comparison of a value of unknown type with a number, or None. The compiler can determine the type."""
    sides = _compared(know, node)
    if sides is None:
        return None
    left, sign, right = sides
    plain = left.type in ("identifier", "subscript_expression", "field_expression")
    if not plain or right.type != "number_literal" or know.types.type_of(left) is not Type.UNKNOWN:
        return None
    return SizeComparison(node, left, sign, right)


def _of_the_template(know: FileAnalysis, function: Function, node: Node) -> str | None:
    """Return the comparison of a value whose type is a type parameter of a function template, or None."""
    sides = _compared(know, node)
    if sides is None:
        return None
    left, sign, right = sides
    text = know.model.tree.text
    named = {text(one) for side in (left, right) for one in every(side, "identifier", "type_identifier")}
    own = {one.name for one in function.parameters if _says(one.type_text, function.type_parameters)}
    if not named & (own | function.type_parameters):
        return None
    return f"c10::SymInt({text(left)}).{METHODS[sign]}({text(right)})"


def _says(type_text: str, names: frozenset[str]) -> bool:
    return not names.isdisjoint(re.findall(r"\w+", type_text))


def _compared(know: FileAnalysis, node: Node) -> tuple[Node, str, Node] | None:
    left, right, operator = (node.child_by_field_name(name) for name in ("left", "right", "operator"))
    if node.type != "binary_expression" or left is None or right is None or operator is None:
        return None
    sign = know.model.tree.text(operator)
    return (left, sign, right) if sign in METHODS else None


def _method_text(know: FileAnalysis, found: SizeComparison) -> str:
    start, end = found.node.start_byte, found.node.end_byte
    text = know.model.tree.content[start:end]
    for edit in sorted(as_method(know.types, found), reverse=True):
        text = text[: edit.start - start] + edit.text + text[edit.end - start :]
    return text.decode()


def _operands(know: FileAnalysis, node: Node, sign: str) -> list[Node]:
    while node.type == "parenthesized_expression" and node.named_child_count == 1:
        node = node.named_children[0]
    operator, left, right = (node.child_by_field_name(name) for name in ("operator", "left", "right"))
    if node.type != "binary_expression" or operator is None or left is None or right is None:
        return [node]
    if know.model.tree.text(operator) != sign:
        return [node]
    return [*_operands(know, left, sign), *_operands(know, right, sign)]
