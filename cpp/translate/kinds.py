"""Kinds of C++ values that Python writes differently, read from the text of a type."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from ..syntax.list_split import listed


@dataclass(frozen=True)
class CppKind:
    """A C++ type without qualifiers. ``inner`` are the kinds of its elements.

    ``owned``: a copy of the list is another list (a vector), not another view (an ArrayRef).
    """

    name: str
    inner: tuple[CppKind, ...] = ()
    owned: bool = False

    def __str__(self) -> str:
        return f"{self.name} of {', '.join(map(str, self.inner))}" if self.inner else self.name

    @property
    def held(self) -> CppKind:
        """Return the kind of the elements of a list or the value of an optional."""
        return self.inner[0] if self.inner else UNKNOWN


TENSOR, INT, FLOAT, BOOL = CppKind("Tensor"), CppKind("integer"), CppKind("float"), CppKind("bool")
"""Kinds of tensors and numbers. An integer may be a symbolic size, and a float or bool may be computed from one."""
SCALAR, TEXT, DTYPE, DEVICE = CppKind("Scalar"), CppKind("string"), CppKind("ScalarType"), CppKind("Device")
DEVICE_TYPE, LAYOUT, FORMAT = CppKind("DeviceType"), CppKind("Layout"), CppKind("MemoryFormat")
OPTIONS = CppKind("TensorOptions")
"""Kind of a TensorOptions, in Python a dict of keyword arguments."""
NAMES, GUARD, NOTHING, NULL = CppKind("names"), CppKind("guard"), CppKind("nothing"), CppKind("nullopt")
GENERATOR, BRACES, UNKNOWN = CppKind("Generator"), CppKind("braces"), CppKind("unknown")
TENSOR_ARGUMENT = CppKind("TensorArg")
"""Kind of a TensorArg, in Python a tuple of the tensor, its name and its number, which starts at 1."""


def list_of(kind: CppKind, owned: bool = True) -> CppKind:
    """Return the kind of a list with elements of a kind."""
    return CppKind("list", (kind,), owned)


def optional(kind: CppKind) -> CppKind:
    """Return the kind of a value that may be None. A Tensor may be None anyway, where C++ leaves it undefined."""
    return kind if kind.name == "optional" else CppKind("optional", (kind,))


def tuple_of(kinds: tuple[CppKind, ...]) -> CppKind:
    """Return the kind of a tuple or pair."""
    return CppKind("tuple", kinds)


def iterator_over(kind: CppKind) -> CppKind:
    """Return the kind of an iterator over a list of this kind."""
    return CppKind("iterator", (kind,))


_QUALIFIER = re.compile(
    r"\b(?:const|static|constexpr|inline|volatile|mutable|typename|std|c10|at|torch|native|autograd|detail)\b(?:\s*::)?"
    r"|::|&|\s+"
)
_SINGLE = {
    "Tensor": TENSOR, "TensorBase": TENSOR, "OptionalTensorRef": TENSOR, "Variable": TENSOR,
    "int64_t": INT, "int": INT, "long": INT, "int32_t": INT, "size_t": INT, "uint64_t": INT, "SymInt": INT,
    "ptrdiff_t": INT, "unsigned": INT, "longlong": INT, "int8_t": INT, "uint8_t": INT,
    "double": FLOAT, "float": FLOAT, "SymFloat": FLOAT, "bool": BOOL, "SymBool": BOOL, "Scalar": SCALAR,
    "string_view": TEXT, "string": TEXT, "char*": TEXT, "CheckedFrom": TEXT,
    "ScalarType": DTYPE, "TypeMeta": DTYPE, "caffe2TypeMeta": DTYPE, "caffe2::TypeMeta": DTYPE, "Device": DEVICE,
    "DeviceType": DEVICE_TYPE,
    "Layout": LAYOUT, "MemoryFormat": FORMAT, "TensorOptions": OPTIONS, "Generator": GENERATOR, "void": NOTHING,
    "nullopt_t": NULL, "TensorArg": TENSOR_ARGUMENT, "TensorGeometryArg": TENSOR_ARGUMENT,
    "IntArrayRef": list_of(INT, owned=False), "SymIntArrayRef": list_of(INT, owned=False),
    "IntList": list_of(INT, owned=False), "DimVector": list_of(INT), "SymDimVector": list_of(INT),
    "TensorList": list_of(TENSOR, owned=False), "ITensorListRef": list_of(TENSOR, owned=False),
    "OptionalIntArrayRef": optional(list_of(INT, owned=False)),
    "OptionalSymIntArrayRef": optional(list_of(INT, owned=False)),
    "NoGradGuard": GUARD, "NoNamesGuard": GUARD, "NoTF32Guard": GUARD, "AutoDispatchBelowADInplaceOrView": GUARD,
    "IntArrayRefvalue_type": INT, "DimnameList": NAMES, "Dimname": NAMES,
}  # fmt: skip
_VIEWS = frozenset({"ArrayRef", "MaterializedITensorListRef", "IListRef"})
_OWNERS = frozenset({"vector", "SmallVector", "SmallBuffer", "array", "List"})


@lru_cache(maxsize=4096)
def read_kind(text: str) -> CppKind:
    """Return the kind that a C++ type text names, or UNKNOWN for any other."""
    bare = _QUALIFIER.sub("", text)
    if bare in _SINGLE:
        return _SINGLE[bare]
    name, bracket, rest = bare.partition("<")
    if not bracket or not rest.endswith(">"):
        return UNKNOWN
    arguments = [part.strip() for part in listed(rest[:-1])]
    if name == "bitset":
        return list_of(BOOL)
    inner = tuple(map(read_kind, arguments))
    if name == "variant":
        return UNKNOWN if UNKNOWN in inner else CppKind("variant", inner)
    if name in ("tuple", "pair"):
        return UNKNOWN if UNKNOWN in inner else tuple_of(inner)
    if not inner or inner[0] is UNKNOWN:
        return UNKNOWN
    if name in ("optional", "OptionalArrayRef"):
        return optional(list_of(inner[0], owned=False) if name == "OptionalArrayRef" else inner[0])
    if name in ("MaybeOwned", "ExclusivelyOwned", "reference_wrapper"):
        return inner[0]
    if name in _VIEWS or name in _OWNERS:
        return list_of(inner[0], owned=name in _OWNERS)
    return UNKNOWN


_OF_SCHEMA = {
    "Tensor": TENSOR, "int": INT, "SymInt": INT, "float": FLOAT, "bool": BOOL, "Scalar": SCALAR, "str": TEXT,
    "ScalarType": DTYPE, "Device": DEVICE, "Layout": LAYOUT, "MemoryFormat": FORMAT, "Generator": GENERATOR,
    "Dimname": NAMES, "TensorOptions": OPTIONS, "()": NOTHING,
}  # fmt: skip
_ALIAS = re.compile(r"\([^()]*\)")


@lru_cache(maxsize=1024)
def kind_of_schema(text: str) -> CppKind:
    """Return the kind of a schema's type, as in ``Tensor(a!)``, ``SymInt[2]?``, ``int?``."""
    bare = text if text == "()" else _ALIAS.sub("", text).strip()
    if bare.endswith("?"):
        return optional(kind_of_schema(bare[:-1]))
    if bare.endswith("]"):
        return list_of(kind_of_schema(bare[: bare.rindex("[")]), owned=False)
    return _OF_SCHEMA.get(bare, UNKNOWN)


_ANNOTATIONS = {
    "Tensor": "Tensor", "int": "int", "SymInt": "int", "float": "float", "bool": "bool", "Scalar": "torch.types.Number",
    "str": "str", "ScalarType": "torch.dtype", "Device": "torch.device", "Layout": "torch.layout",
    "MemoryFormat": "torch.memory_format", "Generator": "torch.Generator",
}  # fmt: skip


def annotation(text: str) -> str | None:
    """Return the Python annotation of a schema's type, or None if there is none here."""
    bare = _ALIAS.sub("", text).strip()
    if bare.endswith("?"):
        inner = annotation(bare[:-1])
        return None if inner is None else f"{inner} | None"
    if bare.endswith("]"):
        inner = annotation(bare[: bare.rindex("[")])
        return None if inner is None else f"list[{inner}]"
    return _ANNOTATIONS.get(bare)


def fit(kind: CppKind, type_text: str) -> int | None:
    """Return the cost of passing a value as a schema's type.

    It is 0 if the value is unchanged, 1 or 2 if it is converted, and None if C++ can't convert it.
    """
    wanted = kind_of_schema(type_text)
    if wanted.name == "optional":
        if kind in (NULL, BRACES):
            return 1
        if kind.name == "optional":
            return fit(kind.held, type_text.rstrip("?"))
        inner = fit(kind, type_text.rstrip("?"))
        return None if inner is None else inner + 1
    if wanted.name == "list":
        if kind is BRACES:
            return 1
        if kind.name == "list":
            return 0 if kind.held == wanted.held or kind.held is UNKNOWN else None
        return 2 if kind == wanted.held and kind is INT else None
    if kind == wanted:
        return 0
    return _CONVERSIONS.get((kind, wanted))


_CONVERSIONS = {
    (INT, SCALAR): 2, (FLOAT, SCALAR): 2, (BOOL, SCALAR): 2, (INT, FLOAT): 1, (FLOAT, INT): 1, (BOOL, INT): 1,
    (INT, BOOL): 1, (BOOL, FLOAT): 1, (FLOAT, BOOL): 1, (DTYPE, OPTIONS): 2, (DEVICE, OPTIONS): 2, (LAYOUT, OPTIONS): 2,
    (BRACES, OPTIONS): 1, (DEVICE_TYPE, DEVICE): 2, (BRACES, TENSOR): 1,
}  # fmt: skip
