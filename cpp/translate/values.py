"""Pieces of Python text with what they are, and how they are put together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

from .kinds import BOOL, UNKNOWN, Kind


class Refused(Exception):
    """The translator does not cover something; ``str()`` says what, with its line where there is one."""

    def __init__(self, what: str, line: int = 0) -> None:
        super().__init__(what)
        self.what = what
        self.line = line


class Level(IntEnum):
    """How tight Python binds an expression; a looser one wants parentheses inside of a tighter one."""

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
class Value:
    """An expression of Python.

    ``low`` is a number that an integer is known not to be below. ``fresh`` says that nothing else holds the value.
    ``parts`` are the elements of a braced list, ``fields`` the keyword arguments that TensorOptions come to.
    """

    text: str
    kind: Kind
    level: Level = Level.ATOM
    low: int | None = None
    fresh: bool = False
    parts: tuple[Value, ...] | None = None
    fields: tuple[tuple[str, str], ...] | None = None
    name: str = ""
    """The variable that it is, and nothing else."""

    def inside(self, level: Level) -> str:
        """The text, in parentheses where ``level`` binds tighter."""
        return self.text if self.level >= level else f"({self.text})"

    @property
    def atom(self) -> str:
        """The text, ready for a dot or a bracket behind it."""
        if self.text.isdigit():
            return f"({self.text})"
        return self.inside(Level.ATOM)

    def of_kind(self, kind: Kind) -> Value:
        """The same text, known to be of another kind."""
        return replace(self, kind=kind)


def call(text: str, kind: Kind, fresh: bool = True, low: int | None = None) -> Value:
    """An expression that binds as tight as a name."""
    return Value(text, kind, fresh=fresh, low=low)


def negated(value: Value) -> Value:
    """``not`` in front, or a comparison turned round."""
    if value.text in ("True", "False"):
        return replace(value, text="False" if value.text == "True" else "True")
    if value.text.endswith(" is not None") and value.level is Level.COMPARISON:
        return replace(value, text=value.text.removesuffix("is not None") + "is None")
    if value.text.endswith(" is None") and value.level is Level.COMPARISON:
        return replace(value, text=value.text.removesuffix("is None") + "is not None")
    return Value(f"not {value.inside(Level.NOT)}", BOOL, Level.NOT)


NONE = Value("None", UNKNOWN)


def quoted(text: str) -> str:
    """A string literal with double quotes."""
    return '"' + repr("'" + text)[2:-1].replace('"', '\\"').replace("\\'", "'") + '"'
