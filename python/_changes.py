"""What can become of an expression: the values by which the rules say what to write, without writing it.

LibCST, which writes it, is imported when the first change is made.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from ..codemods.edits import Edit
from ._module import Module


@dataclass(frozen=True)
class Named:
    """Whatever stands there becomes a dotted name."""

    name: str


@dataclass(frozen=True)
class Attributed:
    """``a.b`` → ``a.name``."""

    name: str


@dataclass(frozen=True)
class Called:
    """``a`` → ``name(a)``; parentheses that only group ``a`` become those of the call."""

    name: str


@dataclass(frozen=True)
class Uncalled:
    """``f(a)`` → ``a``, or ``(a)`` with the parentheses of the call where ``grouped``."""

    grouped: bool = False


@dataclass(frozen=True)
class Ungrouped:
    """``(a)`` → ``a``."""


@dataclass(frozen=True)
class Grouped:
    """``a`` → ``(a)``, where that reads better."""


@dataclass(frozen=True)
class Compared:
    """``a`` → ``a operator 0``."""

    operator: str


@dataclass(frozen=True)
class Negated:
    """``a`` → ``not a``."""


@dataclass(frozen=True)
class Affirmed:
    """``not a`` → ``a``."""


@dataclass(frozen=True)
class Reversed:
    """``a == b`` → ``a != b``."""


@dataclass(frozen=True)
class Equated:
    """``a == b`` → ``name(a, b)``."""

    name: str


@dataclass(frozen=True)
class Apart:
    """``a < b <= c`` → ``name(a < b, b <= c)``, and ``name(a >= b, b > c)`` where ``opposite``."""

    name: str
    opposite: bool = False


@dataclass(frozen=True)
class Chosen:
    """``n in (0, 1)`` → ``name(n == 0, n == 1)``, or ``each(n == 0) or each(n == 1)`` where there is no ``name``."""

    inside: bool
    name: str | None = None
    each: str | None = None


@dataclass(frozen=True)
class Joined:
    """``a and b and c`` → ``a and name(b, c)``: those of ``count`` operands from ``start`` on are joined by ``name``.

    ``conjunction`` says what stands between the others: ``and`` or ``or``. Without a ``name`` that is all.
    """

    conjunction: bool
    count: int
    start: int = 0
    name: str | None = None


@dataclass(frozen=True)
class Quantified:
    """``all(... for ...)`` → ``name(neutral, *(... for ...))``."""

    name: str
    neutral: str


@dataclass(frozen=True)
class Received:
    """``a.f()`` → ``name(a)``."""

    name: str


@dataclass(frozen=True)
class Selected:
    """``a if c else b`` → ``name(c, a, b)``."""

    name: str


@dataclass(frozen=True)
class Divided:
    """``f(a / b)`` → ``a // b``, and ``(a + b - 1) // b`` where it is rounded ``up``."""

    up: bool


Change = (
    Named
    | Attributed
    | Called
    | Uncalled
    | Ungrouped
    | Grouped
    | Compared
    | Negated
    | Affirmed
    | Reversed
    | Equated
    | Apart
    | Chosen
    | Joined
    | Quantified
    | Received
    | Selected
    | Divided
)
Changes = Sequence[tuple[ast.expr, Change]]
"""What becomes of an expression and its parts; those of one part in this order."""


def edited(module: Module, node: ast.expr, changes: Changes) -> Edit:
    """The edit that makes ``changes`` to ``node`` and its parts; raises Unfit where a comment would be lost."""
    from ._rewriting import rewritten

    return rewritten(module, node, changes)


def checked(
    module: Module,
    node: ast.If | ast.Assert,
    changes: Changes,
    function: str,
    message: ast.expr | None,
    error: str | None = None,
) -> Edit:
    """The edit that checks in place of ``node``, by a ``function`` of torch, what ``changes`` make of its test.

    Raises Unfit.
    """
    from ._checking import check_edit

    return check_edit(module, node, changes, function, message, error)


def limited(module: Module, call: ast.Call, changes: Changes, keyword: str) -> Edit:
    """The edit that makes ``changes`` to ``check(n, keyword=m)`` and says ``check(n <= m)`` behind it; raises Unfit."""
    from ._checking import limit_behind

    return limit_behind(module, call, changes, keyword)


def renamed_definition(module: Module, node: ast.FunctionDef, name: str) -> Edit:
    """The edit that gives a function another name where it is defined; raises Unfit."""
    from ._statement import name_in_definition

    return Edit(*name_in_definition(module, node), name.encode())


def names_kept(module: Module, statement: ast.ImportFrom, kept: Sequence[int]) -> Edit:
    """The edit that leaves of the names of an import those at the places ``kept``; raises Unfit."""
    from ._statement import without_names

    return without_names(module, statement, kept)


def chosen_value(module: Module, node: ast.If, name: str) -> Edit:
    """The edit that makes ``n = name(c, n - 1, n)`` of ``if c: n -= 1``; raises Unfit."""
    from ._checking import value_instead

    return value_instead(module, node, name)
