"""Comparison of guards by the sizes that they accept: does a second set reject sizes that the first one accepted?

Guards are parsed from sympy's text and evaluated at many sizes. Two texts for one condition, or a guard that is always
true, make no difference. For unreadable guards the caller compares the texts.
"""

from __future__ import annotations

import ast
import math
import operator
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from ...system.python_parser import parse_expression

_SIZES = (*range(2, 17), 31, 32, 33, 63, 64, 65, 127, 128, 129, 1023, 1024, 1025)
"""Values to try for a symbolic size. 0 and 1 are missing, since torch specializes them."""
_POINTS, _MOST_POINTS = 4000, 40_000
"""Number of points to try, and the maximum if few of them pass the first set of guards."""
_ENOUGH = 8
"""Minimum number of points that must pass the first set of guards, if there are several symbols."""
_SYMBOL = re.compile(r"s\d+")
_ONE: Mapping[type, Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.not_,
    ast.Not: operator.not_,
}
_TWO: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: Fraction,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.BitAnd: lambda one, other: bool(one and other),
    ast.BitOr: lambda one, other: bool(one or other),
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_CALLS: Mapping[str, Callable[..., Any]] = {
    "Eq": operator.eq,
    "Ne": operator.ne,
    "Mod": operator.mod,
    "PythonMod": operator.mod,
    "FloorDiv": operator.floordiv,
    "CleanDiv": operator.floordiv,
    "Max": max,
    "Min": min,
    "Abs": abs,
    "IntTrueDiv": Fraction,
    "TruncToInt": math.trunc,
    "FloorToInt": math.floor,
    "CeilToInt": math.ceil,
    "RoundToInt": round,
    "floor": math.floor,
    "ceiling": math.ceil,
    "And": lambda *sides: all(sides),
    "Or": lambda *sides: any(sides),
    "Not": operator.not_,
}


class _Unread(Exception):
    """Error raised for an unsupported part of a guard."""


class _NoPiece(Exception):
    """Error raised when no condition of a piecewise value is true at these sizes."""


def newly_rejected_sizes(before: Sequence[str], after: Sequence[str]) -> str | None:
    """Return sizes that pass all of ``before`` and not all of ``after``, as text.

    Return "" if none were found, and None if the guards are unreadable or too few sizes pass ``before``.
    """
    try:
        first, second = ([parse_expression(guard) for guard in guards] for guards in (before, after))
        names = sorted({name for guard in (*first, *second) for name in _symbols(guard)})
        taken = 0
        for number, point in enumerate(_points(names, [*first, *second])):
            if number >= _POINTS and taken >= _ENOUGH:
                break
            try:
                if not all(_value(guard, point) for guard in first):
                    continue
                kept = all(_value(guard, point) for guard in second)
            except (ZeroDivisionError, _NoPiece):
                continue
            taken += 1
            if not kept:
                return ", ".join(f"{name} = {point[name]}" for name in names)
    except (_Unread, SyntaxError, TypeError):
        return None
    return "" if taken >= (_ENOUGH if len(names) > 1 else 1) else None


def is_readable(guard: str) -> bool:
    """Return whether a guard can be parsed and evaluated."""
    try:
        tree = parse_expression(guard)
        _value(tree, dict.fromkeys(_symbols(tree), 2))
    except (_Unread, SyntaxError, TypeError):
        return False
    except (ZeroDivisionError, _NoPiece):
        return True
    return True


def symbols(guard: str) -> frozenset[str]:
    """Return the symbols of sizes in a guard."""
    return frozenset(re.findall(r"\bs\d+\b", guard))


def _points(names: Sequence[str], guards: Sequence[ast.expr]) -> Iterator[dict[str, int]]:
    """Yield sizes for all symbols, with few distinct ones at a time, since guards often require that two are equal."""
    numbers = [node.value for guard in guards for node in ast.walk(guard) if isinstance(node, ast.Constant)]
    near = {number + step for number in numbers if type(number) is int for step in (-1, 0, 1)}
    sizes = sorted({*_SIZES, *(size for size in near if size >= 2)})
    if len(names) < 2:
        yield from (dict.fromkeys(names, size) for size in sizes)
        return
    drawn = random.Random(0)
    for _ in range(_MOST_POINTS):
        some = drawn.choices(sizes, k=drawn.randint(1, len(names)))
        yield {name: drawn.choice(some) for name in names}


def _symbols(guard: ast.expr) -> Iterator[str]:
    called = {id(node.func) for node in ast.walk(guard) if isinstance(node, ast.Call)}
    for node in ast.walk(guard):
        if isinstance(node, ast.Name) and id(node) not in called:
            if not _SYMBOL.fullmatch(node.id):
                raise _Unread(node.id)
            yield node.id


def _value(node: ast.expr, point: Mapping[str, int]) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return node.value
    if isinstance(node, ast.Name):
        return point[node.id]
    if isinstance(node, ast.Tuple):
        return tuple(_value(one, point) for one in node.elts)
    if isinstance(node, ast.UnaryOp):
        return _ONE[type(node.op)](_value(node.operand, point))
    if isinstance(node, ast.BinOp) and type(node.op) in _TWO:
        return _TWO[type(node.op)](_value(node.left, point), _value(node.right, point))
    if isinstance(node, ast.Compare) and all(type(one) in _TWO for one in node.ops):
        sides = [_value(one, point) for one in (node.left, *node.comparators)]
        return all(_TWO[type(one)](*pair) for one, pair in zip(node.ops, pairwise(sides), strict=True))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        if node.func.id == "Piecewise":
            return _first(node.args, point)
        if node.func.id in _CALLS:
            return _CALLS[node.func.id](*(_value(one, point) for one in node.args))
    raise _Unread(ast.unparse(node))


def _first(pieces: Sequence[ast.expr], point: Mapping[str, int]) -> Any:
    """Return the value of the first piece whose condition is true, since the others may divide by zero."""
    for piece in pieces:
        if not isinstance(piece, ast.Tuple) or len(piece.elts) != 2:
            raise _Unread(ast.unparse(piece))
        if _value(piece.elts[1], point):
            return _value(piece.elts[0], point)
    raise _NoPiece
