"""Python's parser, for one thread at a time: that of CPython 3.11 counts its depth for all threads together.

Two that parse at the same time may end each other with ``SystemError: AST constructor recursion depth mismatch``.
"""

from __future__ import annotations

import ast
from threading import Lock

_parsing = Lock()


def parse_module(source: str | bytes) -> ast.Module:
    """The tree of a module. Raises SyntaxError, ValueError and RecursionError as `ast.parse` does."""
    with _parsing:
        return ast.parse(source)


def parse_expression(source: str) -> ast.expr:
    """The tree of an expression; raises what `parse_module` does."""
    with _parsing:
        return ast.parse(source, mode="eval").body
