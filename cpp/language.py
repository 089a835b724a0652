"""C++ language definition for the engine."""

from __future__ import annotations

from collections.abc import Sequence

from ..codemods.model.rule import Context, Language
from ..codemods.model.source_file import SourceFile
from .analysis.file.concrete_uses import concrete_uses
from .analysis.file.prefilter import is_read, worth_reading
from .analysis.handlers.signatures import HEADERS
from .rewrite.alternatives import alternatives, extent, internal_callees
from .rewrite.formatter import wrap_long_lines
from .rewrite.includes import includes
from .syntax.bracket_balance import is_whole
from .syntax.comments import same_code
from .syntax.model import model_of
from .syntax.project import SUFFIXES, read_project
from .syntax.tree import count_errors, doubts, tree_of


def _errors(content: bytes) -> int:
    return count_errors(tree_of(content).root)


def _unparsed(source: SourceFile, context: Context) -> tuple[int, str] | None:
    """Return the first syntax error of a file as its offset and a message, or None.

    Some macros only resemble broken statements, and a template's tags are not C++. A file that no rule reads is still
    parsed in two cases. It is a source that the user named, or its brackets, strings or conditionals are not closed. In
    others, the grammar reports false errors, since it supports neither CUDA nor every macro.
    """
    header = source.path.suffix in HEADERS
    parsed = worth_reading(source, context) if header else source.named or is_read(source, context)
    if not parsed and is_whole(source.content):
        return None
    tree = tree_of(source.content)
    found = None if tree.tags else min((error.start_byte for error in doubts(tree.root)), default=None)
    return None if found is None else (found, "invalid syntax")


def _functions(source: SourceFile) -> Sequence[tuple[int, int]]:
    return [(one.node.start_byte, one.node.end_byte) for one in model_of(source).functions]


def _polish(source: SourceFile, after: bytes, context: Context) -> bytes:
    return after if tree_of(source.content).tags else wrap_long_lines(source.path, source.content, after)


language = Language(
    name="cpp",
    suffixes=(".cpp", ".cc", ".cxx", ".h", ".hpp", ".cuh", ".cu"),
    complete=includes,
    errors=_errors,
    polish=_polish,
    unparsed=_unparsed,
    settings=(".clang-format",),
    project=read_project,
    project_suffixes=SUFFIXES,
    project_tables=("aten/src/ATen/native/native_functions.yaml",),
    extent=extent,
    callees=internal_callees,
    alternatives=alternatives,
    concrete_uses=concrete_uses,
    functions=_functions,
    comment="//",
    same_code=same_code,
)
