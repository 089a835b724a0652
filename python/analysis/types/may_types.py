"""May-types of expressions at run time, as far as symbolic shapes are concerned."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


class Kind(Enum):
    """Kind of a value, with the kind of its elements and of a sequence of such values."""

    UNKNOWN = "nothing is known"
    CONCRETE = "never symbolic: a rank, a dtype, a flag, a literal"
    NUMBER = "a Python scalar the user gave, SymInt and SymFloat included"
    TENSOR = "a tensor"
    TENSORS = "several tensors"
    SIZE = "a size or what was computed from sizes, an int or SymInt"
    SIZES = "several sizes"
    STRIDE = "a stride or a storage offset"
    STRIDES = "several strides"
    RATIO = "a float computed from sizes"
    TRUTH = "a comparison of sizes, a bool or SymBool"
    FOREIGN = "an array, or a number of another library: what it is compared with is decided, and the answer is no bool"

    __hash__ = object.__hash__

    kind: Kind
    """The kind itself, so that `TupleKind` and `Kind` have the same attribute."""
    element: Kind
    sequence: Kind
    several: bool
    """True for several sizes or several strides."""
    symbolic_number: bool
    weakness: int
    """Rank among the kinds. `join` returns the kind with the lower rank."""


_ELEMENT = {
    Kind.SIZES: Kind.SIZE,
    Kind.STRIDES: Kind.STRIDE,
    Kind.TENSORS: Kind.TENSOR,
    Kind.TENSOR: Kind.TENSOR,
    Kind.FOREIGN: Kind.FOREIGN,
    Kind.CONCRETE: Kind.CONCRETE,
}
_SEQUENCE = {
    Kind.SIZE: Kind.SIZES,
    Kind.SIZES: Kind.SIZES,
    Kind.STRIDE: Kind.STRIDES,
    Kind.STRIDES: Kind.STRIDES,
    Kind.TENSOR: Kind.TENSORS,
    Kind.CONCRETE: Kind.CONCRETE,
}
for _kind in Kind:
    _kind.kind = _kind
    _kind.element = _ELEMENT.get(_kind, Kind.UNKNOWN)
    _kind.sequence = _SEQUENCE.get(_kind, Kind.UNKNOWN)
    _kind.several = _kind in (Kind.SIZES, Kind.STRIDES)
    _kind.symbolic_number = _kind in (Kind.SIZE, Kind.STRIDE, Kind.RATIO)


@dataclass(frozen=True)
class TupleKind:
    """A tuple with a known value at each position, such as the results of a function."""

    places: tuple[Value, ...]
    kind: Kind = field(init=False, compare=False)
    """Kind of the whole tuple if the positions are not distinguished."""

    def __post_init__(self) -> None:
        kinds = [place.kind for place in self.places]
        joined = kinds[0] if kinds else Kind.CONCRETE
        for one in kinds[1:]:
            joined = _stronger(joined, one)
        object.__setattr__(self, "kind", joined.sequence)


Value = Kind | TupleKind


def join(a: Value, b: Value) -> Value:
    """Return the value of a name that may be ``a`` or ``b``: the symbolic one, since it may be that."""
    if a == b:
        return a
    if isinstance(a, TupleKind) and isinstance(b, TupleKind) and len(a.places) == len(b.places):
        return TupleKind(tuple(join(x, y) for x, y in zip(a.places, b.places, strict=True)))
    return _stronger(a.kind, b.kind)


def _stronger(a: Kind, b: Kind) -> Kind:
    return a if a.weakness < b.weakness else b


_STRENGTH = (
    Kind.TENSORS,
    Kind.TENSOR,
    Kind.FOREIGN,
    Kind.STRIDES,
    Kind.SIZES,
    Kind.STRIDE,
    Kind.SIZE,
    Kind.RATIO,
    Kind.TRUTH,
    Kind.NUMBER,
    Kind.UNKNOWN,
    Kind.CONCRETE,
)
for _place, _kind in enumerate(_STRENGTH):
    _kind.weakness = _place
