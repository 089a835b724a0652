"""Python language definition for the engine."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable, Sequence

from ..codemods.model.rule import Context, Fix, Language
from ..codemods.model.source_file import SourceFile
from .analysis.decisions.concrete_uses import concrete_uses
from .analysis.flow.scriptable import TO_SCRIPT
from .analysis.flow.unfixable_reasons import residue
from .candidates.alternatives import alternatives, extent, preferred
from .candidates.value_decisions import refused
from .rewrite.formatter import CONFIGURATIONS, wrap_long_lines
from .rewrite.imports import complete
from .rewrite.registration import registered, translated
from .syntax.module import parse
from .syntax.tree import syntax_tree


def errors(content: bytes) -> int:
    """Return 1 if the text does not parse, else 0. Python's parser stops at the first error."""
    try:
        syntax_tree(content)
    except (SyntaxError, ValueError, RecursionError):
        return 1
    return 0


def unparsed(source: SourceFile, context: Context) -> tuple[int, str] | None:
    """Return the byte offset where Python's parser stops and its message, or None."""
    content = source.content
    try:
        syntax_tree(content)
    except SyntaxError as error:
        lines = content.splitlines(keepends=True)[: error.lineno or 1]
        last = lines.pop().decode("utf-8", "replace") if lines else ""
        return sum(map(len, lines)) + len(last[: max((error.offset or 1) - 1, 0)].encode()), error.msg
    except (ValueError, RecursionError) as error:
        return 0, str(error)
    return None


def obscure(content: bytes) -> str | None:
    """Return the reason why Python does not read the text as UTF-8, or None.

    Its first two lines name another encoding.
    """
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    except SyntaxError:
        return None  # an encoding unknown to Python: the text does not parse
    if encoding in ("utf-8", "utf-8-sig") or content.isascii():
        return None
    return f"declares its encoding as {encoding}; convert it to UTF-8 first"


def same_code(before: bytes, after: bytes) -> bool:
    """Return whether two texts have the same tree."""
    if errors(before) or errors(after):
        return False
    return ast.dump(syntax_tree(before)) == ast.dump(syntax_tree(after))


def _stated(source: SourceFile, context: Context, where: tuple[int, int], conditions: Sequence[str]) -> Iterable[Fix]:
    from .candidates.preconditions import stated  # uses LibCST, which is slow to import

    return stated(source, context, where, conditions)


def _functions(source: SourceFile) -> Sequence[tuple[int, int]]:
    module = parse(source)
    return [module.span(one.node) for one in module.functions]


def _polish(source: SourceFile, after: bytes, context: Context) -> bytes:
    laid_out = wrap_long_lines(source.path, source.content, after)
    return laid_out if same_code(after, laid_out) else after


language = Language(
    "Python",
    (".py", ".pyi"),
    complete,
    errors,
    _polish,
    strict=True,
    unparsed=unparsed,
    settings=CONFIGURATIONS,
    package_words=TO_SCRIPT,
    extent=extent,
    alternatives=alternatives,
    preferred=preferred,
    stated=_stated,
    registered=registered,
    translated=translated,
    residue=residue,
    refused=refused,
    concrete_uses=concrete_uses,
    functions=_functions,
    comment="#",
    same_code=same_code,
    obscure=obscure,
)
