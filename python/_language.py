"""What the engine must know of Python."""

from __future__ import annotations

import ast
import warnings

from ..codemods.rule import Context, Language
from ..codemods.source import SourceFile
from ._imports import complete


def errors(content: bytes) -> int:
    """1 when the text does not parse, else 0: Python's parser stops at the first error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        try:
            ast.parse(content)
        except (SyntaxError, ValueError, RecursionError):
            return 1
    return 0


def keep(source: SourceFile, after: bytes, context: Context) -> bytes:
    """Python text is left as the edits made it."""
    return after


language = Language("Python", (".py", ".pyi"), complete, errors, keep, strict=True)
