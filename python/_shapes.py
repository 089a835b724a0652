"""Whole shapes compared: ``a.shape == b.shape``."""

from __future__ import annotations

import ast

from ._flow import Flow
from ._values import Kind


def compared_shapes(flow: Flow, node: ast.expr) -> ast.Compare | None:
    """The comparison itself when it tests two shapes (or strides) for equality."""
    if not isinstance(node, ast.Compare) or len(node.ops) != 1 or not isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
        return None
    sides = [flow.kind(node.left), flow.kind(node.comparators[0])]
    return node if any(side.several for side in sides) else None


def unfit_for_sym_eq(flow: Flow, node: ast.Compare) -> tuple[str, str] | None:
    """Why ``sym_eq`` would not say what ``==`` says here, as (reason, detail)."""
    sides = (node.left, node.comparators[0])
    for side in sides:
        if flow.kind(side) in (Kind.SIZE, Kind.STRIDE, Kind.RATIO, Kind.NUMBER) or isinstance(side, ast.Constant):
            return "not-a-shape", "one side is not a sequence, and sym_eq takes two of a kind"
    if len({_is_list(side) for side in sides}) == 2:
        return "list-against-tuple", "a list never equals a tuple, but sym_eq compares only what is in them"
    if any(flow.kind(side) is Kind.UNKNOWN for side in sides):
        return "not-a-shape", "one side may be no sequence, which sym_eq refuses"
    return None


def _is_list(node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in ("list", "sorted")
    return isinstance(node, (ast.List, ast.ListComp))
