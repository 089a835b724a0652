"""Python expressions with their kinds, and their composition."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

from .kinds import BOOL, UNKNOWN, CppKind


class Untranslatable(Exception):
    """Error for a construct that the translator does not support. ``str()`` names it, with its line if known."""

    def __init__(self, what: str, line: int = 0) -> None:
        super().__init__(what)
        self.what = what
        self.line = line


class Level(IntEnum):
    """Python operator precedence. A looser expression needs parentheses inside a tighter one."""

    LOOSE = 0
    TERNARY = 1
    OR = 2
    AND = 3
    NOT = 4
    COMPARISON = 5
    BIT_OR = 6
    BIT_XOR = 7
    BIT_AND = 8
    SHIFT = 9
    SUM = 10
    PRODUCT = 11
    SIGN = 12
    ATOM = 14


@dataclass(frozen=True)
class PythonExpression:
    """A Python expression.

    ``low`` is a known lower bound of an integer. ``fresh``: no other variable refers to the value. ``parts`` are the
    elements of a braced list, and ``fields`` the keyword arguments of TensorOptions.
    """

    text: str
    kind: CppKind
    level: Level = Level.ATOM
    low: int | None = None
    fresh: bool = False
    parts: tuple[PythonExpression, ...] | None = None
    fields: tuple[tuple[str, str], ...] | None = None
    name: str = ""
    """Name of the variable that the expression consists of, else empty."""

    def inside(self, level: Level) -> str:
        """Return the text, in parentheses if ``level`` binds tighter."""
        return self.text if self.level >= level else f"({self.text})"

    @property
    def atom(self) -> str:
        """Return the text, ready for a following dot or bracket."""
        if self.text.isdigit():
            return f"({self.text})"
        return self.inside(Level.ATOM)

    def of_kind(self, kind: CppKind) -> PythonExpression:
        """Return the same text with another kind."""
        return replace(self, kind=kind)


def call(text: str, kind: CppKind, fresh: bool = True, low: int | None = None) -> PythonExpression:
    """Return an expression that binds as tightly as a name."""
    return PythonExpression(text, kind, fresh=fresh, low=low)


def negated(value: PythonExpression) -> PythonExpression:
    """Return the value with a leading ``not``, or with a negated comparison."""
    if value.text in ("True", "False"):
        return replace(value, text="False" if value.text == "True" else "True")
    if value.text.endswith(" is not None") and value.level is Level.COMPARISON:
        return replace(value, text=value.text.removesuffix("is not None") + "is None")
    if value.text.endswith(" is None") and value.level is Level.COMPARISON:
        return replace(value, text=value.text.removesuffix("is None") + "is not None")
    return PythonExpression(f"not {value.inside(Level.NOT)}", BOOL, Level.NOT)


NONE = PythonExpression("None", UNKNOWN)


def quoted(text: str) -> str:
    """Return a string literal with double quotes."""
    return '"' + repr("'" + text)[2:-1].replace('"', '\\"').replace("\\'", "'") + '"'
