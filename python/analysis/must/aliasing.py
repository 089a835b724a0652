"""Aliasing of lists: other code may change their elements, so the function's own stores don't determine them."""

from __future__ import annotations

import ast
from collections.abc import Container

from ...syntax.module import Module
from ...syntax.tree import GROWING, FunctionDefinition
from ..flow.flow import flow
from ..types.may_types import Kind

_KEEPING = ("builtins.", "math.", "torch.")
"""Prefixes of functions that do not modify a list argument."""
_EXPRESSIONS = (ast.Subscript, ast.Compare, ast.Starred, ast.FormattedValue, ast.BinOp, ast.UnaryOp)
_READING = (*_EXPRESSIONS, ast.comprehension, ast.Return, ast.For, ast.If, ast.While)


def changed_elsewhere(module: Module, function: FunctionDefinition, lists: Container[str]) -> set[str]:
    """Return the names of lists that a function uses in a way by which other code may change the list."""
    uses = (one for one in ast.walk(function.node) if isinstance(one, ast.Name) and one.id in lists)
    return {one.id for one in uses if isinstance(one.ctx, ast.Load) and not _only_reads(module, one)}


def _only_reads(module: Module, use: ast.Name) -> bool:
    """Return whether this use only reads a list, or appends to it."""
    above = module.parents[use]
    if isinstance(above, ast.Call) and use in above.args:
        meaning = module.names.meaning(above.func) or ""
        of_tensor = isinstance(above.func, ast.Attribute) and flow(module).kind(above.func.value) is Kind.TENSOR
        return meaning.startswith(_KEEPING) or of_tensor
    if isinstance(above, ast.Attribute):
        return above.attr in GROWING or above.attr in ("index", "count", "copy")
    if isinstance(above, ast.Assign):
        return all(isinstance(target, (ast.Tuple, ast.List)) for target in above.targets)
    return isinstance(above, _READING)
