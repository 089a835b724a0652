"""Python's parser behind a lock, because CPython 3.11 counts its recursion depth for all threads together.

Two threads that parse at the same time may fail with ``SystemError: AST constructor recursion depth mismatch``.
"""

from __future__ import annotations

import ast
import os
from functools import lru_cache
from threading import Lock

_parsing = Lock()
# A process that is forked while another thread parses would wait forever for a thread that it does not have.
os.register_at_fork(before=_parsing.acquire, after_in_parent=_parsing.release, after_in_child=_parsing.release)


def parse_module(source: str | bytes) -> ast.Module:
    """Return the tree of a module. Raises SyntaxError, ValueError and RecursionError as `ast.parse` does."""
    with _parsing:
        return ast.parse(source)


@lru_cache(maxsize=8)
def shared_tree(content: bytes) -> ast.Module:
    """Return the tree of `parse_module`, cached for the last few texts.

    Callers share the tree and must not modify it.
    """
    return parse_module(content)


def parse_expression(source: str) -> ast.expr:
    """Return the tree of an expression. Raises the same errors as `parse_module`."""
    with _parsing:
        return ast.parse(source, mode="eval").body
