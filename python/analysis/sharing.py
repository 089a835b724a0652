"""Lists that somebody else may change: what was put into them says little of what is in them later."""

from __future__ import annotations

import ast

from ..syntax.module import Module
from ..syntax.tree import GROWING, Function
from .flow import Flow
from .values import Kind

_KEEPING = ("builtins.", "math.", "torch.")
"""Functions of these modules do not change a list that they are given."""
_READING = (ast.Subscript, ast.Compare, ast.Starred, ast.Return, ast.FormattedValue, ast.comprehension, ast.BinOp)


def shared_lists(module: Module, flow: Flow, function: Function, lists: set[str]) -> set[str]:
    """Those of ``lists`` that are used in other ways than to read them or to grow them here."""
    if not lists:
        return set()
    loads = (one for one in ast.walk(function.node) if isinstance(one, ast.Name) and one.id in lists)
    return {one.id for one in loads if isinstance(one.ctx, ast.Load) and not _only_reads(module, flow, one)}


def _only_reads(module: Module, flow: Flow, use: ast.Name) -> bool:
    above = module.parents[use]
    if isinstance(above, ast.Call) and use in above.args:
        meaning = module.names.meaning(above.func) or ""
        of_tensor = isinstance(above.func, ast.Attribute) and flow.kind(above.func.value) is Kind.TENSOR
        return meaning.startswith(_KEEPING) or of_tensor
    if isinstance(above, ast.Attribute):
        return above.attr in GROWING or above.attr in ("index", "count", "copy")
    return isinstance(above, _READING)
