"""Types of changes to an expression, which rules create and `rewriting` applies."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


class Plain(Enum):
    """Change without parameters."""

    UNGROUPED = "``(a)`` → ``a``"
    GROUPED = "``a`` → ``(a)``, where that reads better"
    NEGATED = "``a`` → ``not a``"
    AFFIRMED = "``not a`` → ``a``"
    REVERSED = "``a == b`` → ``a != b``"
    MEASURED = "``f(a)`` → ``a.size(0)``"


@dataclass(frozen=True)
class Named:
    """Change of anything to ``name``, a dotted name."""

    name: str


@dataclass(frozen=True)
class Attributed:
    """Change ``a.b`` → ``a.name``."""

    name: str


@dataclass(frozen=True)
class Called:
    """Change ``a`` → ``name(a)``. Parentheses that only group ``a`` become those of the call."""

    name: str


@dataclass(frozen=True)
class Uncalled:
    """Change ``f(a)`` → ``a``, or ``(a)`` with the parentheses of the call if ``grouped``."""

    grouped: bool = False


@dataclass(frozen=True)
class Compared:
    """Change ``a`` → ``a operator 0``."""

    operator: str


@dataclass(frozen=True)
class Equated:
    """Change ``a == b`` → ``name(a, b)``."""

    name: str


@dataclass(frozen=True)
class Combined:
    """Change ``a // b``, or another operator of two operands, → ``name(a, b)``."""

    name: str


@dataclass(frozen=True)
class Apart:
    """Change ``a < b <= c`` → ``name(a < b, b <= c)``, or ``name(a >= b, b > c)`` if ``opposite``.

    A ``name`` that joins conditions may be an operator, ``&`` or ``|``, here and below.
    """

    name: str
    opposite: bool = False


@dataclass(frozen=True)
class Chosen:
    """Change ``n in (0, 1)`` → ``name(n == 0, n == 1)``, or ``each(n == 0) or each(n == 1)`` without a ``name``."""

    inside: bool
    name: str | None = None
    each: str | None = None


@dataclass(frozen=True)
class Joined:
    """Change ``a and b and c`` → ``a and name(b, c)``: ``name`` joins those of ``count`` operands from ``start`` on.

    ``conjunction``: ``and`` is between the others, else ``or``. Without a ``name``, only these operators change.
    """

    conjunction: bool
    count: int
    start: int = 0
    name: str | None = None


@dataclass(frozen=True)
class Quantified:
    """Change ``all(... for ...)`` → ``name(neutral, *(... for ...))``."""

    name: str
    neutral: str


@dataclass(frozen=True)
class Received:
    """Change ``a.f()`` → ``name(a)``."""

    name: str


@dataclass(frozen=True)
class Unless:
    """Change ``a`` → ``not name() and a``."""

    name: str


@dataclass(frozen=True)
class OrElse:
    """Change ``a`` → ``name() or a``."""

    name: str


@dataclass(frozen=True)
class Scripted:
    """Change ``a`` → ``a if scripting() else name(a)``."""

    scripting: str
    name: str


@dataclass(frozen=True)
class Selected:
    """Change ``a if c else b`` → ``name(c, a, b)``."""

    name: str


@dataclass(frozen=True)
class Divided:
    """Change ``f(a / b)`` → ``a // b``, or ``(a + b - 1) // b`` if it is rounded ``up``."""

    up: bool


Change = (
    Plain
    | Named
    | Attributed
    | Called
    | Uncalled
    | Compared
    | Equated
    | Combined
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
"""Changes of an expression and its parts. Several changes of one part apply in this order."""
