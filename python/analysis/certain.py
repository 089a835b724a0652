"""Must-types of values: their types for every argument that a caller may pass. A safe fix may rely on them.

`Kind` is the type that a value *may* have, which is enough to find a place worth changing. A must-type is known only if
literals, annotations, builtins and the documented results of tensor methods leave no other type. None means unknown.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


class Sure(Enum):
    WHOLE = "an int or SymInt"
    TRUTH = "a bool or SymBool"
    NUMBER = "a number of any kind: int, float, bool or complex"
    FLOAT = "a float or SymFloat"
    TEXT = "a str"
    NOTHING = "None"
    OPTIONAL = "None or something else"
    PLAIN = "a value whose == gives a bool: a dtype, a device, a layout"
    TENSOR = "a tensor"
    TENSORS = "what gives tensors, element by element"
    TREATED = "what is treated as a tensor: what it has of a tensor's, it has as a tensor does"

    __hash__ = object.__hash__


@dataclass(frozen=True)
class Several:
    """A list (``listed`` True), a tuple (False) or either (None). ``element`` is the must-type of every element."""

    listed: bool | None
    element: Certain | None
    places: tuple[Certain | None, ...] | None = None
    """Must-type at each position, if the length is known."""


Certain = Sure | Several


def row(places: Sequence[Certain | None], listed: bool) -> Several:
    """Return the type of a list or tuple with a known type at each position."""
    known = tuple(places)
    return Several(listed, same(known) if known else Sure.WHOLE, known)


def same(values: Sequence[Certain | None]) -> Certain | None:
    """Return the must-type of a value that is one of ``values``."""
    result: Certain | None = None
    for number, value in enumerate(values):
        result = value if number == 0 else either(result, value)
        if result is None:
            return None
    return result


def either(a: Certain | None, b: Certain | None) -> Certain | None:
    """Return the must-type of a value that is either ``a`` or ``b``."""
    if a == b or a is None or b is None:
        return a if a == b else None
    if a in (Sure.NOTHING, Sure.OPTIONAL) or b in (Sure.NOTHING, Sure.OPTIONAL):
        return Sure.OPTIONAL
    if isinstance(a, Several) and isinstance(b, Several):
        listed = a.listed if a.listed == b.listed else None
        places = None
        if a.places is not None and b.places is not None and len(a.places) == len(b.places):
            places = tuple(either(x, y) for x, y in zip(a.places, b.places, strict=True))
        return Several(listed, either(a.element, b.element), places)
    if {a, b} == {Sure.TENSOR, Sure.TREATED}:
        return Sure.TREATED
    if isinstance(a, Sure) and isinstance(b, Sure) and {a, b} <= _NUMBERS:
        return Sure.NUMBER
    return None


_NUMBERS = {Sure.WHOLE, Sure.FLOAT, Sure.TRUTH, Sure.NUMBER}


def comparable(op: ast.cmpop, a: Certain | None, b: Certain | None) -> bool:
    """Return whether comparing the two by ``op`` always returns a bool or SymBool and never raises."""
    if isinstance(op, (ast.In, ast.NotIn)):
        return isinstance(b, Several) and comparable(ast.Eq(), a, b.element)
    if a is None or b is None or _of_tensors(a) or _of_tensors(b):
        return False
    if not isinstance(op, (ast.Eq, ast.NotEq)):
        return a in _ORDERED and b in _ORDERED
    return all(_plain(one) for one in (a, b))


_ORDERED = {Sure.WHOLE, Sure.FLOAT, Sure.TRUTH}


def _plain(value: Certain | None) -> bool:
    if isinstance(value, Several):
        places = value.places if value.places is not None else (value.element,)
        return all(_plain(one) for one in places)
    return value not in (None, Sure.OPTIONAL) and not _of_tensors(value)


def _of_tensors(value: Certain | None) -> bool:
    return value in (Sure.TENSOR, Sure.TENSORS, Sure.TREATED)


def of_whole_numbers(value: Certain | None) -> bool:
    """Return whether it is a sequence that ``sym_eq`` accepts: of ints, or of such sequences."""
    if not isinstance(value, Several):
        return False
    places = value.places if value.places is not None else (value.element,)
    return all(one is Sure.WHOLE or of_whole_numbers(one) for one in places)


def arithmetic(op: ast.operator, a: Certain | None, b: Certain | None) -> Certain | None:
    """Return the must-type of the result of a binary operator."""
    if a is Sure.TEXT and (isinstance(op, ast.Mod) or (isinstance(op, ast.Add) and b is Sure.TEXT)):
        return Sure.TEXT
    if isinstance(a, Several) or isinstance(b, Several):
        return _of_sequences(op, a, b)
    if _of_tensors(a) or _of_tensors(b):
        # The left operand takes precedence: an unknown list times a tensor is a list.
        return Sure.TENSOR if a is Sure.TENSOR or (a in _NUMBERS and b is Sure.TENSOR) else Sure.TREATED
    if a is b is Sure.TRUTH and isinstance(op, (ast.BitAnd, ast.BitOr, ast.BitXor)):
        return Sure.TRUTH
    numbers = (Sure.WHOLE, Sure.FLOAT, Sure.NUMBER)
    if a not in numbers or b not in numbers:
        return None
    if Sure.NUMBER in (a, b) or isinstance(op, ast.Pow):
        return Sure.NUMBER
    return Sure.WHOLE if a is b is Sure.WHOLE and not isinstance(op, ast.Div) else Sure.FLOAT


def _of_sequences(op: ast.operator, a: Certain | None, b: Certain | None) -> Certain | None:
    """Return the must-type of a concatenation or repetition of sequences, or None."""
    if isinstance(op, ast.Add) and isinstance(a, Several) and isinstance(b, Several) and a.listed is b.listed:
        places = (*a.places, *b.places) if a.places is not None and b.places is not None else None
        return Several(a.listed, same([a.element, b.element]), places)
    if isinstance(op, ast.Mult) and Sure.WHOLE in (a, b):
        sequence = a if isinstance(a, Several) else b
        return Several(sequence.listed, sequence.element) if isinstance(sequence, Several) else None
    return None
