"""Classification of data-dependent statements that no rewrite fixes."""

from __future__ import annotations

import ast

from ....codemods.model.source_file import SourceFile
from ...syntax.module import parse

_LOOPS = (ast.For, ast.While, ast.AsyncFor, ast.comprehension)
_SPLITS = ("split", "tensor_split", "chunk", "unbind", "view", "reshape", "permute", "expand", "unflatten")


def residue(source: SourceFile, line: int) -> str:
    """Return ``loop-over-data``, ``decides-rank`` or ``value-dependent``, for the statement at a 1-based line."""
    module = parse(source)
    here = [
        node
        for node in module.nodes.every(ast.AST, *_LOOPS, ast.Call, ast.BinOp)
        if _first_line(node) <= line <= _last_line(node)
    ]
    if any(isinstance(node, _LOOPS) for node in here):
        return "loop-over-data"
    if any(_shapes(node) for node in here):
        return "decides-rank"
    return "value-dependent"


def _shapes(node: ast.AST) -> bool:
    """Return whether a node takes a number of elements, dimensions or results from a value.

    That is a repeated list, or a call such as ``split``.
    """
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Mult) and isinstance(node.left, (ast.List, ast.Tuple))
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _SPLITS


def _head(node: ast.AST) -> ast.AST:
    """Return the part of a loop that is evaluated before its body runs."""
    if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        return node.iter
    return node.test if isinstance(node, ast.While) else node


def _first_line(node: ast.AST) -> int:
    return int(getattr(_head(node), "lineno", 0))


def _last_line(node: ast.AST) -> int:
    return int(getattr(_head(node), "end_lineno", 0) or 0)
