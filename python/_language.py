"""What the engine must know of Python."""

from __future__ import annotations

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


language = Language(
    "Python",
    (".py", ".pyi"),
    complete,
    errors,
    keep,
    strict=True,
    extent=extent,
    alternatives=alternatives,
)
