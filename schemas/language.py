"""YAML for the engine: entries of operators, which are edited as bytes."""

from __future__ import annotations

from collections.abc import Sequence

from ..codemods.model.edit import Edit
from ..codemods.model.rule import Context, Fix, Language
from ..codemods.model.source_file import SourceFile


def _nothing_to_bring(source: SourceFile, fixes: Sequence[Fix], context: Context) -> Sequence[Edit]:
    return ()


def _errors(content: bytes) -> int:
    return 0


def _as_it_is(source: SourceFile, after: bytes, context: Context) -> bytes:
    return after


language = Language("YAML", (".yaml",), _nothing_to_bring, _errors, _as_it_is, hangs_on_other_files=True, comment="#")
