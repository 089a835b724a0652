"""What an expression can become, as values: a rule says what to write without writing it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


class Plain(Enum):
    """A change without parameters."""

    UNGROUPED = "``(a)`` → ``a``"
    GROUPED = "``a`` → ``(a)``, where that reads better"
    NEGATED = "``a`` → ``not a``"
    AFFIRMED = "``not a`` → ``a``"
    REVERSED = "``a == b`` → ``a != b``"
    MEASURED = "``f(a)`` → ``a.size(0)``"


@dataclass(frozen=True)
class Named:
    """Anything → ``name``, a dotted name."""

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
class Compared:
    """``a`` → ``a operator 0``."""

    operator: str


@dataclass(frozen=True)
class Equated:
    """``a == b`` → ``name(a, b)``."""

    name: str


@dataclass(frozen=True)
class Apart:
    """``a < b <= c`` → ``name(a < b, b <= c)``, and ``name(a >= b, b > c)`` where ``opposite``.

    A ``name`` that joins conditions may be an operator, ``&`` or ``|``, here and below.
    """

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
class Unless:
    """``a`` → ``not name() and a``."""

    name: str


@dataclass(frozen=True)
class OrElse:
    """``a`` → ``name() or a``."""

    name: str


@dataclass(frozen=True)
class Scripted:
    """``a`` → ``a if scripting() else name(a)``."""

    scripting: str
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
    Plain
    | Named
    | Attributed
    | Called
    | Uncalled
    | Compared
    | Equated
    | Apart
    | Chosen
    | Joined
    | Quantified
    | Received
    | Unless
    | OrElse
    | Scripted
    | Selected
    | Divided
)
Changes = Sequence[tuple[ast.expr, Change]]
"""What becomes of an expression and its parts; those of one part in this order."""
