"""Python's parser, for one thread at a time: that of CPython 3.11 counts its depth for all threads together.

Two that parse at the same time may end each other with ``SystemError: AST constructor recursion depth mismatch``.
"""

from __future__ import annotations

import ast
import os
from functools import lru_cache
from threading import Lock

_parsing = Lock()
# A process that is forked while another thread parses would wait for ever for that thread, which it has not.
os.register_at_fork(before=_parsing.acquire, after_in_parent=_parsing.release, after_in_child=_parsing.release)


def parse_module(source: str | bytes) -> ast.Module:
    """The tree of a module. Raises SyntaxError, ValueError and RecursionError as `ast.parse` does."""
    with _parsing:
        return ast.parse(source)


@lru_cache(maxsize=8)
def shared_tree(content: bytes) -> ast.Module:
    """As `parse_module`; the last few trees are kept for all who read the same texts, and nobody may change them."""
    return parse_module(content)


def parse_expression(source: str) -> ast.expr:
    """The tree of an expression; raises what `parse_module` does."""
    with _parsing:
        return ast.parse(source, mode="eval").body
