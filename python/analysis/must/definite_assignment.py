"""Definite assignment: the names that are bound after a block has run. Reading an unbound name raises NameError."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from functools import lru_cache

from ...syntax.tree import DEFINITIONS, FunctionDefinition, bound_by_import, stored_in

_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_TRIES: tuple[type[ast.AST], ...] = tuple(getattr(ast, name) for name in ("Try", "TryStar") if hasattr(ast, name))


def binds(statement: ast.stmt) -> frozenset[str]:
    """Return the names that are bound whenever ``statement`` completes."""
    return frozenset(_binds(statement) or ())


def _binds(statement: ast.stmt) -> set[str] | None:
    """Return the names that are bound whenever ``statement`` completes, or None if it never does."""
    if isinstance(statement, _ENDS):
        return None
    if isinstance(statement, DEFINITIONS):
        return {statement.name}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return bound_by_import(statement)
    if isinstance(statement, ast.Assign):
        return set(stored_in(*statement.targets))
    if isinstance(statement, ast.AugAssign) or (isinstance(statement, ast.AnnAssign) and statement.value is not None):
        return set(stored_in(statement.target))
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        # The body may have stopped halfway, if the context manager suppresses the exception.
        return set(stored_in(*(item.optional_vars for item in statement.items if item.optional_vars)))
    if isinstance(statement, ast.If):
        return _common([_binds_in(statement.body), _binds_in(statement.orelse)])
    if isinstance(statement, _TRIES):
        assert isinstance(statement, ast.Try)
        through = _binds_in([*statement.body, *statement.orelse])
        common = _common([through, *(_binds_in(handler.body) for handler in statement.handlers)])
        after = _binds_in(statement.finalbody)
        return None if common is None or after is None else common | after
    return set()


def _binds_in(block: Sequence[ast.stmt]) -> set[str] | None:
    bound: set[str] = set()
    for statement in block:
        more = _binds(statement)
        if more is None:
            return None
        bound |= more
    return bound


def _common(ways: Iterable[set[str] | None]) -> set[str] | None:
    """Return the names that are bound on every path. A path that never completes does not count."""
    ended = [one for one in ways if one is not None]
    return set.intersection(*ended) if ended else None


@lru_cache(maxsize=2)
def bound_at_top(tree: ast.Module) -> dict[str, int]:
    """Return the names that the statements of a module bind, with the index of the first that does so."""
    first: dict[str, int] = {}
    for index, statement in enumerate(tree.body):
        for name in binds(statement):
            first.setdefault(name, index)
    running = (statement for statement in tree.body if not isinstance(statement, DEFINITIONS))
    unbound = _unbound(node for statement in running for node in ast.walk(statement))
    return {name: index for name, index in first.items() if name not in unbound}


@lru_cache(maxsize=256)
def unbound_again(function: FunctionDefinition) -> frozenset[str]:
    """Return the names that a function deletes, or that the end of an ``except … as`` unbinds."""
    return _unbound(function.nodes.all)


def _unbound(nodes: Iterable[ast.AST]) -> frozenset[str]:
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Delete):
            names.update(one.id for target in node.targets for one in ast.walk(target) if isinstance(one, ast.Name))
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
    return frozenset(names)
