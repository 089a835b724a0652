"""Removal of unused imports of retired names."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.model.edit import Edit
from ..analysis.types.library import SHAPES
from ..syntax.module import Module
from .edits import names_kept


def unused_imports(module: Module, names: tuple[str, ...]) -> Iterator[tuple[ast.ImportFrom, Edit]]:
    """Yield each import of unused retired ``names`` of ``symbolic_shapes``, and its removal."""
    used = set(_used(module))
    for statement in module.nodes.every(ast.ImportFrom):
        if statement.module != SHAPES:
            continue
        gone = [alias for alias in statement.names if alias.name in names and (alias.asname or alias.name) not in used]
        if gone:
            yield statement, _without(module, statement, gone)


def _used(module: Module) -> Iterator[str]:
    """Yield every name in use, and every string, since ``__all__`` may export a name."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _without(module: Module, statement: ast.ImportFrom, gone: list[ast.alias]) -> Edit:
    """Return the edit that removes the retired names from a statement."""
    kept = [alias for alias in statement.names if alias not in gone]
    if not kept:
        return _statement_away(module, statement)
    return names_kept(module, statement, [at for at, alias in enumerate(statement.names) if alias in kept])


def _statement_away(module: Module, statement: ast.ImportFrom) -> Edit:
    start, end = module.span(statement)
    content = module.source.content
    above = module.parents[statement]
    alone = all(statement not in body or len(body) == 1 for body in _bodies(above))
    line = content.rfind(b"\n", 0, start) + 1
    newline = content.find(b"\n", end)
    rest = content[end : newline if newline >= 0 else len(content)]
    if alone or content[line:start].strip() or rest.strip():
        return Edit(start, end, b"pass")
    return Edit(line, newline + 1 if newline >= 0 else len(content), b"")


def _bodies(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        body = getattr(node, name, None)
        if isinstance(body, list):
            yield body
