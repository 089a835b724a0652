"""Operators between values, and constructions from several values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .conversions import converted, filled
from .kinds import (
    BOOL,
    FLOAT,
    INT,
    NULL,
    SCALAR,
    TENSOR,
    TEXT,
    UNKNOWN,
    CppKind,
)
from .library_map import span
from .members import same_lists
from .values import Level, PythonExpression, Untranslatable

_ARITHMETIC = {
    "+": Level.SUM, "-": Level.SUM, "*": Level.PRODUCT, "/": Level.PRODUCT, "%": Level.PRODUCT,
    "<<": Level.SHIFT, ">>": Level.SHIFT, "&": Level.BIT_AND, "|": Level.BIT_OR, "^": Level.BIT_XOR,
}  # fmt: skip
_NUMBERS = (INT, FLOAT, BOOL)


def compared(sign: str, left: PythonExpression, right: PythonExpression) -> PythonExpression:
    kinds = {left.kind, right.kind}
    if left.kind.name == "list" and right.kind.name == "list" and sign in ("==", "!="):
        same = same_lists(left, right)
        return same if sign == "==" else replace(same, text=same.text.replace(" == ", " != "))
    if TENSOR in kinds and kinds <= {TENSOR, SCALAR, *_NUMBERS}:
        return PythonExpression(
            f"{left.inside(Level.BIT_OR)} {sign} {right.inside(Level.BIT_OR)}", TENSOR, Level.COMPARISON
        )
    if NULL in kinds or any(kind.name == "optional" for kind in kinds) or UNKNOWN in kinds:
        raise Untranslatable(f"`{left.text} {sign} {right.text}`, of {left.kind} and {right.kind}")
    if len(kinds) > 1 and not kinds <= {*_NUMBERS}:
        raise Untranslatable(f"`{left.text} {sign} {right.text}`, of {left.kind} and {right.kind}")
    return PythonExpression(f"{left.inside(Level.BIT_OR)} {sign} {right.inside(Level.BIT_OR)}", BOOL, Level.COMPARISON)


def arithmetic(sign: str, left: PythonExpression, right: PythonExpression) -> PythonExpression:
    """Return an arithmetic operation on two values. Raise Untranslatable."""
    kinds = {left.kind, right.kind}
    level = _ARITHMETIC[sign]
    if "iterator" in (left.kind.name, right.kind.name):
        return moved(sign, left, right)
    if kinds == {TEXT} and sign == "+":
        return PythonExpression(f"{left.inside(level)} + {right.inside(Level(level + 1))}", TEXT, level)
    if TENSOR in kinds and kinds <= {TENSOR, SCALAR, *_NUMBERS}:
        return PythonExpression(
            f"{left.inside(level)} {sign} {right.inside(Level(level + 1))}", TENSOR, level, fresh=True
        )
    if not kinds <= {*_NUMBERS}:
        raise Untranslatable(f"`{left.text} {sign} {right.text}`, of {left.kind} and {right.kind}")
    kind = FLOAT if FLOAT in kinds else INT
    if kind is INT and sign in ("/", "%") and (left.low is None or right.low is None or min(left.low, right.low) < 0):
        raise Untranslatable(
            f"`{left.text} {sign} {right.text}`: C++ rounds to zero, Python down, if one may be negative"
        )
    written = "//" if sign == "/" and kind is INT else sign
    low = _lower_bound(sign, left, right) if kind is INT else None
    return PythonExpression(f"{left.inside(level)} {written} {right.inside(Level(level + 1))}", kind, level, low=low)


def moved(sign: str, left: PythonExpression, right: PythonExpression) -> PythonExpression:
    if left.kind.name == "iterator" and right.kind is INT and sign in "+-":
        if left.text == "0" and sign == "+":
            return replace(right, kind=left.kind, name=left.name)
        text = f"{left.text} {sign} {right.inside(Level.PRODUCT)}"
        return PythonExpression(text, left.kind, Level.SUM, name=left.name)
    raise Untranslatable(f"arithmetic of iterators: `{left.text} {sign} {right.text}`")


def made(kind: CppKind, given: Sequence[PythonExpression]) -> PythonExpression:
    """Return the value that constructor arguments in parentheses create. Raise Untranslatable."""
    if kind.name == "list" and given and kind.owned and given[0].kind is INT and len(given) <= 2:
        return filled(kind, [given[0], *(converted(one, kind.held) for one in given[1:])])
    if kind.name == "list" and len(given) == 2 and given[0].kind.name == "iterator":
        start, end = given
        if end.kind is INT:
            end = moved("+", start, end)
        text = span(start, end)
        return PythonExpression(f"list({text})" if kind.owned else text, kind, fresh=kind.owned)
    if len(given) == 1:
        value = converted(given[0], kind)
        return replace(value, fresh=value.fresh and given[0].fresh)
    raise Untranslatable(f"{kind} made of {len(given)} arguments")


def _lower_bound(sign: str, left: PythonExpression, right: PythonExpression) -> int | None:
    if left.low is None:
        return None
    if sign == "-":
        return left.low - int(right.text) if right.text.isdigit() else None
    if right.low is None:
        return None
    if sign == "+":
        return left.low + right.low
    if min(left.low, right.low) < 0:
        return None
    return left.low * right.low if sign == "*" else 0
