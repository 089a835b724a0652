"""Python's parser, for one thread at a time: that of CPython 3.11 counts its depth for all threads together.

Two that parse at the same time may end each other with ``SystemError: AST constructor recursion depth mismatch``.
"""

from __future__ import annotations

import ast
import os
from threading import Lock

_parsing = Lock()
# A process that is forked while another thread parses would wait for ever for that thread, which it has not.
os.register_at_fork(before=_parsing.acquire, after_in_parent=_parsing.release, after_in_child=_parsing.release)


def parse_module(source: str | bytes) -> ast.Module:
    """The tree of a module. Raises SyntaxError, ValueError and RecursionError as `ast.parse` does."""
    with _parsing:
        return ast.parse(source)


def parse_expression(source: str) -> ast.expr:
    """The tree of an expression; raises what `parse_module` does."""
    with _parsing:
        return ast.parse(source, mode="eval").body
