"""The yaml of operator schemas as the engine sees it."""

from __future__ import annotations

from collections.abc import Sequence

from ..codemods.engine.edits import Edit
from ..codemods.engine.rule import Context, Fix, Language
from ..codemods.engine.source import SourceFile


def _nothing(source: SourceFile, fixes: Sequence[Fix], context: Context) -> list[Edit]:
    return []


def _errors(content: bytes) -> int:
    """A yaml that can't be read is said by its rule, with the line."""
    return 0


def _as_written(source: SourceFile, after: bytes, context: Context) -> bytes:
    return after


language = Language(
    name="yaml", suffixes=(".yaml",), complete=_nothing, errors=_errors, polish=_as_written, comment="#"
)
