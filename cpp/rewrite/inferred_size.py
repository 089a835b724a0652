"""Explicit sizes for ``view``. Inferring a size divides the number of elements and guards on the remainder."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Fix, Safety
from ..analysis.file.file_analysis import FileAnalysis
from ..syntax.tree import ancestors, arguments

_VIEWS = ("view_symint", "reshape_symint")


def computed_size(rule: str, know: FileAnalysis, call: Node, function: str) -> Iterator[Fix]:
    """Yield the fix of ``x.view_symint({n, c, -1})`` that computes the last size, where ``x`` has elements.

    ``-1`` → ``x.sym_numel() / (n * c)``. A branch on ``x.sym_numel() > 0`` around the call ensures that the divisor is
    not 0.
    """
    text = know.model.tree.text
    callee, given = call.child_by_field_name("function"), arguments(call)
    if callee is None or callee.type != "field_expression" or len(given) != 1 or given[0].type != "initializer_list":
        return
    method, subject = callee.child_by_field_name("field"), callee.child_by_field_name("argument")
    if method is None or subject is None or subject.type != "identifier" or text(method) not in _VIEWS:
        return
    sizes = [_unmoved(text(one)) for one in given[0].named_children]
    rest = [size for size in sizes if size not in ("-1", "1")]
    if (
        sizes.count("-1") != 1
        or not all(size.isidentifier() for size in rest)
        or not _has_elements(know, call, subject)
    ):
        return
    count = f"{text(subject)}.sym_numel()"
    computed = f"{count} / ({' * '.join(rest)})" if len(rest) > 1 else " / ".join([count, *rest])
    new = ", ".join(computed if size == "-1" else size for size in sizes)
    edit = Edit(given[0].start_byte, given[0].end_byte, f"{{{new}}}".encode())
    yield Fix(rule, 2, Safety.UNSAFE, (edit,), f"compute the size that `{text(method)}` would infer", function)


def _unmoved(size: str) -> str:
    """Return a size as it can be read twice."""
    inner = size.removeprefix("std::move(")
    return inner.removesuffix(")") if inner != size else size


def _has_elements(know: FileAnalysis, call: Node, subject: Node) -> bool:
    count = f"{know.model.tree.text(subject)}.sym_numel()"
    inner = call
    for around in ancestors(call):
        if around.type == "if_statement" and inner == around.child_by_field_name("consequence"):
            condition = around.child_by_field_name("condition")
            asked = "" if condition is None else know.model.tree.text(condition)
            return f"{count} > 0)" in asked or f"{count}.sym_gt(0))" in asked
        inner = around
    return False
