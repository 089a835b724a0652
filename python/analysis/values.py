"""What an expression may hold at run time, as far as symbolic shapes care."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache


class Kind(Enum):
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

    @property
    def several(self) -> bool:
        return self in (Kind.SIZES, Kind.STRIDES)

    @property
    def symbolic_number(self) -> bool:
        return self in (Kind.SIZE, Kind.STRIDE, Kind.RATIO)

    @property
    def element(self) -> Kind:
        return _ELEMENT.get(self, Kind.CONCRETE if self is Kind.CONCRETE else Kind.UNKNOWN)

    @property
    def sequence(self) -> Kind:
        return _SEQUENCE.get(self, Kind.CONCRETE if self is Kind.CONCRETE else Kind.UNKNOWN)


_ELEMENT = {
    Kind.SIZES: Kind.SIZE,
    Kind.STRIDES: Kind.STRIDE,
    Kind.TENSORS: Kind.TENSOR,
    Kind.TENSOR: Kind.TENSOR,
    Kind.FOREIGN: Kind.FOREIGN,
}
_SEQUENCE = {
    Kind.SIZE: Kind.SIZES,
    Kind.SIZES: Kind.SIZES,
    Kind.STRIDE: Kind.STRIDES,
    Kind.STRIDES: Kind.STRIDES,
    Kind.TENSOR: Kind.TENSORS,
}


@dataclass(frozen=True)
class Row:
    """A tuple whose places are known one by one, such as what a helper returns."""

    places: tuple[Value, ...]


Value = Kind | Row


def flat(value: Value) -> Kind:
    """The kind of a value when its places no longer matter."""
    if isinstance(value, Kind):
        return value
    joined: Kind | None = None
    for place in value.places:
        one = flat(place)
        joined = one if joined is None else flat(join(joined, one))
    return (joined or Kind.CONCRETE).sequence


def join(a: Value, b: Value) -> Value:
    """What a name holds that is given ``a`` here and ``b`` there: symbolic wins, since it may be."""
    if a == b:
        return a
    if isinstance(a, Row) and isinstance(b, Row) and len(a.places) == len(b.places):
        return Row(tuple(join(x, y) for x, y in zip(a.places, b.places, strict=True)))
    x, y = flat(a), flat(b)
    for kind in _STRENGTH:
        if kind in (x, y):
            return kind
    return Kind.UNKNOWN


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

_SEVERAL = re.compile(r"\b(list|List|tuple|Tuple|Sequence|Iterable|Collection)\[")
_OPTIONAL = re.compile(r"\bOptional\[(.*)\]$|\s*\|\s*None\b|\bNone\s*\|\s*")
_NOT_A_VALUE = re.compile(r"\b(Callable|Dict|dict|Mapping|Type|type|Module|Mesh|Group)\b|DTensorSpec|Strategy")
_TENSOR = re.compile(r"^torch\.(\w*Tensor(Like(Type)?)?|Parameter)$")
_TENSORS = re.compile(r"^torch\.TensorSequenceType$")
_SIZES = re.compile(r"^torch\.(Size|ShapeType|Shape|size)$")
_STRIDES = re.compile(r"^torch\.StrideType$")
_SIZE = re.compile(r"^torch\.(SymInt|IntLikeType|IntLike|Dim)$")
_NUMBER = re.compile(r"^(torch\.(Number|NumberType|Scalar|SymFloat|FloatLikeType|FloatLike)|Number|float)$")
_FOREIGN = re.compile(r"^unknown\.(ndarray|NDArray)$")
_CONCRETE = re.compile(r"^(bool|str|bytes|complex|torch\.(dtype|device|layout|memory_format|Dims(Sequence)?Type))$")


@lru_cache(maxsize=4096)
def annotated(annotation: str | None) -> Value:
    """What a parameter with this annotation may hold; UNKNOWN when the annotation says nothing about sizes.

    Names of torch's are written ``torch.NAME``, those that the language brings by themselves.
    """
    if annotation is None:
        return Kind.UNKNOWN
    text = annotation.strip()
    if _NOT_A_VALUE.search(text):
        return Kind.CONCRETE if "Callable" not in text else Kind.UNKNOWN
    while (shorter := _OPTIONAL.sub(lambda match: match.group(1) or "", text)) != text:
        text = shorter
    many = bool(_SEVERAL.search(text))
    words = [word for word in re.findall(r"[\w.]+", text) if not _SEVERAL.match(word + "[") and word != "Union"]
    kinds = {_of_word(word) for word in words}
    for kind in (Kind.TENSORS, Kind.TENSOR, Kind.STRIDES, Kind.SIZES, Kind.SIZE):
        if kind in kinds:
            if kind is Kind.TENSOR and Kind.NUMBER in kinds:
                return Kind.NUMBER
            if many and Kind.CONCRETE in kinds and kind in (Kind.SIZE, Kind.STRIDE):
                return Kind.UNKNOWN  # ``tuple[bool, SymInt]``: not all of them are sizes
            return kind.sequence if many else kind
    if Kind.FOREIGN in kinds:
        return Kind.FOREIGN
    if Kind.NUMBER in kinds:
        return Kind.UNKNOWN if many else Kind.NUMBER
    return Kind.CONCRETE if kinds == {Kind.CONCRETE} else Kind.UNKNOWN


def _of_word(word: str) -> Kind:
    for pattern, kind in (
        (_TENSOR, Kind.TENSOR),
        (_TENSORS, Kind.TENSORS),
        (_SIZES, Kind.SIZES),
        (_STRIDES, Kind.STRIDES),
        (_SIZE, Kind.SIZE),
        (_NUMBER, Kind.NUMBER),
        (_FOREIGN, Kind.FOREIGN),
        (_CONCRETE, Kind.CONCRETE),
    ):
        if pattern.match(word):
            return kind
    return Kind.UNKNOWN
