"""Expressions that decide a size by themselves, whatever is done with the result."""

from __future__ import annotations

import ast

from .surely import Surely
from .values import Kind

_DECIDING = frozenset(
    f"builtins.{name}" for name in ("int", "bool", "float", "round", "min", "max", "any", "all", "sorted", "divmod")
)
_SYMBOLIC = (Kind.SIZE, Kind.STRIDE, Kind.RATIO, Kind.TRUTH)


def decides(surely: Surely, node: ast.expr) -> bool:
    """Whether evaluating ``node`` asks for the value of a size: ``int(n)``, ``max(s)``, ``a if n == 0 else b``.

    ``min`` and ``max`` of two sizes do not count: `use_sym_min_max` writes them symbolically.
    """
    if isinstance(node, ast.IfExp):
        return _symbolic(surely, node.test)
    if isinstance(node, ast.BoolOp):
        return any(_symbolic(surely, one) for one in node.values[:-1])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return _symbolic(surely, node.operand)
    if not isinstance(node, ast.Call):
        return False
    meaning = surely.module.names.meaning(node.func)
    if meaning in ("builtins.min", "builtins.max") and len(node.args) == 2 and not node.keywords:
        return False
    return meaning in _DECIDING and any(_symbolic(surely, one) for one in node.args)


def _symbolic(surely: Surely, node: ast.expr) -> bool:
    if isinstance(node, (ast.GeneratorExp, ast.ListComp)):
        node = node.elt
    kind = surely.flow.kind(node)
    return kind in _SYMBOLIC or kind.several
