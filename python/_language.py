"""What the engine must know of Python."""

from __future__ import annotations

import ast

from ..codemods.rule import Context, Language
from ..codemods.source import SourceFile
from ._alternatives import alternatives, extent
from ._imports import complete
from ._module import syntax_tree


def errors(content: bytes) -> int:
    """1 when the text does not parse, else 0: Python's parser stops at the first error."""
    try:
        syntax_tree(content)
    except (SyntaxError, ValueError, RecursionError):
        return 1
    return 0


def keep(source: SourceFile, after: bytes, context: Context) -> bytes:
    """Python text is left as the edits made it."""
    return after


def same_code(before: bytes, after: bytes) -> bool:
    """Whether two texts have the same tree."""
    if errors(before) or errors(after):
        return False
    return ast.dump(syntax_tree(before)) == ast.dump(syntax_tree(after))


language = Language(
    "Python",
    (".py", ".pyi"),
    complete,
    errors,
    keep,
    strict=True,
    extent=extent,
    alternatives=alternatives,
    comment="#",
    same_code=same_code,
)
