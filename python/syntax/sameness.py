"""Whether two texts are the same code."""

from __future__ import annotations

import ast

from .tree import syntax_tree


def same_tree(before: bytes, after: bytes) -> bool:
    """Whether the trees of two texts, which parse, are the same but for their places.

    Only statements of the module whose lines differ are compared node by node, which takes five times as long as
    parsing them.
    """
    texts = (before, after)
    lines = [text.splitlines() for text in texts]
    mine, theirs = (syntax_tree(text).body for text in texts)
    if len(mine) != len(theirs):
        return False
    # The first two lines may say how all others are to be decoded.
    decoded_alike = lines[0][:2] == lines[1][:2]
    return all(
        (decoded_alike and _text(one, lines[0]) == _text(other, lines[1])) or ast.dump(one) == ast.dump(other)
        for one, other in zip(mine, theirs, strict=True)
    )


def _text(statement: ast.stmt, lines: list[bytes]) -> tuple[list[bytes], int, int | None]:
    """The lines that a statement of a module is on, its decorators too, and where on them it starts and ends."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    first = min([statement.lineno, *(one.lineno for one in decorators)])
    return lines[first - 1 : statement.end_lineno], statement.col_offset, statement.end_col_offset
