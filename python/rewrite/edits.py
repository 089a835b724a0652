"""Edits for the decisions of rules. LibCST, which is slow to import, is imported by the first edit."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ...codemods.model.edit import Edit
from ..analysis.types.cannot_rewrite import CannotRewrite
from ..syntax.module import Module, Place
from .change_types import Changes

_TOO_DEEP = "nested-deeply", "LibCST, which nests `a or b or c` to the left, does not go so deep"


def edited(module: Module, node: ast.expr, changes: Changes) -> Edit:
    """Return the edit that makes ``changes`` to ``node`` and its parts.

    Raise CannotRewrite if a comment would be lost, or the nesting is too deep.
    """
    from .applied_changes import rewritten

    try:
        return rewritten(module, node, changes)
    except RecursionError as error:
        raise CannotRewrite(*_TOO_DEEP) from error


def checked(
    place: Place,
    node: ast.If | ast.Assert,
    changes: Changes,
    function: str,
    message: ast.expr | None,
    error: str | None = None,
) -> Edit:
    """Return the edit that replaces ``node`` by a call of torch's ``function`` on its test, changed by ``changes``.

    Raise CannotRewrite.
    """
    from .statements import check_edit

    try:
        return check_edit(place, node, changes, function, message, error)
    except RecursionError as too_deep:
        raise CannotRewrite(*_TOO_DEEP) from too_deep


def checked_while_compiling(
    place: Place,
    node: ast.If | ast.Assert,
    changes: Changes,
    function: str,
    message: ast.expr | None,
    asked: Sequence[str],
) -> Edit:
    """Return the edit that adds a check for tracers to ``node``, as `check_while_compiling` does.

    Raise CannotRewrite.
    """
    from .statements import check_while_compiling

    try:
        return check_while_compiling(place, node, changes, function, message, asked)
    except RecursionError as too_deep:
        raise CannotRewrite(*_TOO_DEEP) from too_deep


def limited(module: Module, call: ast.Call, changes: Changes, keyword: str) -> Edit:
    """Return the edit that makes ``changes`` to ``check(n, keyword=m)`` and adds ``check(n <= m)`` behind it.

    Raise CannotRewrite.
    """
    from .statements import limit_behind

    return limit_behind(module, call, changes, keyword)


def renamed_definition(module: Module, node: ast.FunctionDef, name: str) -> Edit:
    """Return the edit that renames a function in its definition. Raise CannotRewrite."""
    from .statements import name_in_definition

    return Edit(*name_in_definition(module, node), name.encode())


def names_kept(module: Module, statement: ast.ImportFrom, kept: Sequence[int]) -> Edit:
    """Return the edit that keeps only the names of an import at the indices ``kept``. Raise CannotRewrite."""
    from .statements import without_names

    return without_names(module, statement, kept)


def chosen_value(module: Module, node: ast.If, name: str) -> Edit:
    """Return the edit ``if c: n -= 1`` → ``n = name(c, n - 1, n)``. Raise CannotRewrite."""
    from .statements import value_instead

    return value_instead(module, node, name)
