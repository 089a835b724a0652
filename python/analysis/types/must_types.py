"""Must-types of values: their types for every argument that a caller may pass. A safe fix may rely on them.

`Kind` is the type that a value *may* have, which is enough to find a place worth changing. A must-type is known only if
literals, annotations, builtins and the documented results of tensor methods leave no other type. None means unknown.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


class ScalarType(Enum):
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
class SequenceType:
    """A list (``listed`` True), a tuple (False) or either (None). ``element`` is the must-type of every element."""

    listed: bool | None
    element: Certain | None
    places: tuple[Certain | None, ...] | None = None
    """Must-type at each position, if the length is known."""


Certain = ScalarType | SequenceType


def row(places: Sequence[Certain | None], listed: bool) -> SequenceType:
    """Return the type of a list or tuple with a known type at each position."""
    known = tuple(places)
    return SequenceType(listed, same(known) if known else ScalarType.WHOLE, known)


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
    if a in (ScalarType.NOTHING, ScalarType.OPTIONAL) or b in (ScalarType.NOTHING, ScalarType.OPTIONAL):
        return ScalarType.OPTIONAL
    if isinstance(a, SequenceType) and isinstance(b, SequenceType):
        listed = a.listed if a.listed == b.listed else None
        places = None
        if a.places is not None and b.places is not None and len(a.places) == len(b.places):
            places = tuple(either(x, y) for x, y in zip(a.places, b.places, strict=True))
        return SequenceType(listed, either(a.element, b.element), places)
    if {a, b} == {ScalarType.TENSOR, ScalarType.TREATED}:
        return ScalarType.TREATED
    if isinstance(a, ScalarType) and isinstance(b, ScalarType) and {a, b} <= _NUMBERS:
        return ScalarType.NUMBER
    return None


_NUMBERS = {ScalarType.WHOLE, ScalarType.FLOAT, ScalarType.TRUTH, ScalarType.NUMBER}


def comparable(op: ast.cmpop, a: Certain | None, b: Certain | None) -> bool:
    """Return whether comparing the two by ``op`` always returns a bool or SymBool and never raises."""
    if isinstance(op, (ast.In, ast.NotIn)):
        return isinstance(b, SequenceType) and comparable(ast.Eq(), a, b.element)
    if a is None or b is None or _of_tensors(a) or _of_tensors(b):
        return False
    if not isinstance(op, (ast.Eq, ast.NotEq)):
        return a in _ORDERED and b in _ORDERED
    return all(_plain(one) for one in (a, b))


_ORDERED = {ScalarType.WHOLE, ScalarType.FLOAT, ScalarType.TRUTH}


def _plain(value: Certain | None) -> bool:
    if isinstance(value, SequenceType):
        places = value.places if value.places is not None else (value.element,)
        return all(_plain(one) for one in places)
    return value not in (None, ScalarType.OPTIONAL) and not _of_tensors(value)


def _of_tensors(value: Certain | None) -> bool:
    return value in (ScalarType.TENSOR, ScalarType.TENSORS, ScalarType.TREATED)


def of_whole_numbers(value: Certain | None) -> bool:
    """Return whether it is a sequence that ``sym_eq`` accepts: of ints, or of such sequences."""
    if not isinstance(value, SequenceType):
        return False
    places = value.places if value.places is not None else (value.element,)
    return all(one is ScalarType.WHOLE or of_whole_numbers(one) for one in places)


def arithmetic(op: ast.operator, a: Certain | None, b: Certain | None) -> Certain | None:
    """Return the must-type of the result of a binary operator."""
    if a is ScalarType.TEXT and (isinstance(op, ast.Mod) or (isinstance(op, ast.Add) and b is ScalarType.TEXT)):
        return ScalarType.TEXT
    if isinstance(a, SequenceType) or isinstance(b, SequenceType):
        return _of_sequences(op, a, b)
    if _of_tensors(a) or _of_tensors(b):
        # The left operand takes precedence: an unknown list times a tensor is a list.
        return (
            ScalarType.TENSOR
            if a is ScalarType.TENSOR or (a in _NUMBERS and b is ScalarType.TENSOR)
            else ScalarType.TREATED
        )
    if a is b is ScalarType.TRUTH and isinstance(op, (ast.BitAnd, ast.BitOr, ast.BitXor)):
        return ScalarType.TRUTH
    numbers = (ScalarType.WHOLE, ScalarType.FLOAT, ScalarType.NUMBER)
    if a not in numbers or b not in numbers:
        return None
    if ScalarType.NUMBER in (a, b) or isinstance(op, ast.Pow):
        return ScalarType.NUMBER
    return ScalarType.WHOLE if a is b is ScalarType.WHOLE and not isinstance(op, ast.Div) else ScalarType.FLOAT


def _of_sequences(op: ast.operator, a: Certain | None, b: Certain | None) -> Certain | None:
    """Return the must-type of a concatenation or repetition of sequences, or None."""
    if isinstance(op, ast.Add) and isinstance(a, SequenceType) and isinstance(b, SequenceType) and a.listed is b.listed:
        places = (*a.places, *b.places) if a.places is not None and b.places is not None else None
        return SequenceType(a.listed, same([a.element, b.element]), places)
    if isinstance(op, ast.Mult) and ScalarType.WHOLE in (a, b):
        sequence = a if isinstance(a, SequenceType) else b
        return SequenceType(sequence.listed, sequence.element) if isinstance(sequence, SequenceType) else None
    return None
