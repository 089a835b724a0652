"""C++ types that matter when sizes become symbolic, read from the text of a type."""

from __future__ import annotations

import re
from collections.abc import Set
from enum import Enum
from functools import lru_cache

from .list_split import listed


class Type(Enum):
    """Type of a value, as far as symbolic sizes require it."""

    TENSOR = "Tensor"
    """Tensor, or a type that is used like a pointer to one: a MaybeOwned, or an iterator over a list of Tensors."""
    OPTIONAL_TENSOR = "optional Tensor"
    TENSORS = "list of Tensors"
    INT = "int64_t"
    LONG_LONG = "long long"
    """64-bit integer type that makes SymInt's operators ambiguous. A value can become a SymInt, but not an operand of
    one."""
    UNSIGNED = "unsigned integer"
    BOOL = "bool"
    FLOAT = "double"
    SCALAR = "Scalar"
    INT_REF = "IntArrayRef"
    INT_VEC = "container of int64_t"
    INT_ITER = "iterator over int64_t"
    OPTIONAL_INT = "optional int64_t"
    OPTIONAL_INT_REF = "OptionalIntArrayRef"
    OPTIONAL_SYM_INT = "optional SymInt"
    OPTIONAL_SYM_REF = "OptionalSymIntArrayRef"
    SYM_INT = "SymInt"
    SYM_BOOL = "SymBool"
    SYM_FLOAT = "SymFloat"
    SYM_REF = "SymIntArrayRef"
    SYM_VEC = "container of SymInt"
    SYM_ITER = "iterator over SymInt"
    STORAGE = "Storage"
    TENSOR_IMPL = "TensorImpl"
    """TensorImpl, or a pointer to one."""
    STREAM = "output stream"
    DIMNAME = "Dimname"
    OPTIONS = "TensorOptions"
    AUTO = "auto"
    UNKNOWN = "unknown"


ELEMENT = {
    Type.INT_REF: Type.INT, Type.INT_VEC: Type.INT, Type.INT_ITER: Type.INT,
    Type.SYM_REF: Type.SYM_INT, Type.SYM_VEC: Type.SYM_INT, Type.SYM_ITER: Type.SYM_INT,
    Type.TENSORS: Type.TENSOR,
}  # fmt: skip

HELD = {
    Type.OPTIONAL_INT: Type.INT, Type.OPTIONAL_INT_REF: Type.INT_REF,
    Type.OPTIONAL_SYM_INT: Type.SYM_INT, Type.OPTIONAL_SYM_REF: Type.SYM_REF,
}  # fmt: skip
"""Type of the value of each optional."""

HALVES = {b"first": 0, b"second": 1}
"""Positions of the members of a pair."""

SYMBOLIC = {
    Type.INT: Type.SYM_INT,
    Type.LONG_LONG: Type.SYM_INT,
    Type.INT_REF: Type.SYM_REF,
    Type.INT_VEC: Type.SYM_VEC,
    Type.INT_ITER: Type.SYM_ITER,
    Type.FLOAT: Type.SYM_FLOAT,
    Type.OPTIONAL_INT: Type.OPTIONAL_SYM_INT,
    Type.OPTIONAL_INT_REF: Type.OPTIONAL_SYM_REF,
}
"""Symbolic type that replaces each concrete type when a value is promoted."""

SYMBOLIC_TYPES = frozenset(SYMBOLIC.values()) | {Type.SYM_BOOL}
INTEGERS = frozenset({Type.INT, Type.UNSIGNED, Type.SYM_INT})
LISTS = frozenset({Type.SYM_REF, Type.SYM_VEC})


def fits(kind: Type, target: Type) -> bool:
    """Return whether a symbolic type can hold a symbolic value."""
    return (
        kind is target
        or (kind, target) in ((Type.SYM_VEC, Type.SYM_REF), (Type.SYM_INT, Type.SYM_FLOAT))
        or (kind is Type.SYM_REF and target is Type.SYM_VEC)
        or (kind is Type.SYM_INT and target is Type.OPTIONAL_SYM_INT)
    )


_QUALIFIER = re.compile(
    r"\b(?:const|static|constexpr|inline|volatile|mutable|typename|std|c10|at|torch|autograd|detail)\b(?:\s*::)?|::|&|\s+"
)
_ARGUMENTS = re.compile(r",[^<>]*(?=>)")
"""Template arguments after the element type of a container, such as a number of elements."""
_CONTAINER = r"(?:vector|SmallVector|SmallVectorImpl|SmallBuffer|array)"
_PATTERNS: tuple[tuple[re.Pattern[str], Type], ...] = tuple(
    (re.compile(pattern + r"\Z"), kind)
    for pattern, kind in (
        (r"(?:Tensor(?:Base)?|Variable|OptionalTensorRef|(?:Maybe|Exclusively)Owned<Tensor(?:Base)?>"
         r"|reference_wrapper<Tensor>)", Type.TENSOR),
        (r"(?:optional<(?:Tensor|Variable)>|OptionalTensor)", Type.OPTIONAL_TENSOR),
        (r"(?:TensorList|ITensorListRef|(?:ArrayRef|List|vector|SmallVector|array|deque)"
         r"<(?:Tensor|Variable|reference_wrapper<Tensor>)(?:,.*)?>"
         r"|MaterializedITensorListRef|variable_list|tensor_list|VariableList)", Type.TENSORS),
        (r"(?:int64_t|int|long|int32_t|ptrdiff_t|longint)", Type.INT),
        (r"(?:longlong|longlongint)", Type.LONG_LONG),
        (r"(?:size_t|unsigned|uint64_t|uint32_t|unsignedint|unsignedlong)", Type.UNSIGNED),
        (r"bool", Type.BOOL),
        (r"double", Type.FLOAT),
        (r"Scalar", Type.SCALAR),
        (r"(?:IntArrayRef|IntList|ArrayRef<int64_t>)", Type.INT_REF),
        (r"(?:DimVector|" + _CONTAINER + r"<int64_t(?:,.*)?>)", Type.INT_VEC),
        (r"optional<int64_t>", Type.OPTIONAL_INT),
        (r"(?:OptionalIntArrayRef|optional<IntArrayRef>|OptionalArrayRef<int64_t>|optional<DimVector>|optional<"
         + _CONTAINER + r"<int64_t>>)", Type.OPTIONAL_INT_REF),
        (r"optional<SymInt>", Type.OPTIONAL_SYM_INT),
        (r"(?:OptionalSymIntArrayRef|optional<SymIntArrayRef>|OptionalArrayRef<SymInt>|optional<SymDimVector>|optional<"
         + _CONTAINER + r"<SymInt>>)", Type.OPTIONAL_SYM_REF),
        (r"SymInt", Type.SYM_INT),
        (r"SymBool", Type.SYM_BOOL),
        (r"SymFloat", Type.SYM_FLOAT),
        (r"(?:SymIntArrayRef|ArrayRef<SymInt>)", Type.SYM_REF),
        (r"(?:SymDimVector|" + _CONTAINER + r"<SymInt(?:,.*)?>)", Type.SYM_VEC),
        (r"Storage", Type.STORAGE),
        (r"(?:TensorImpl|intrusive_ptr<TensorImpl>)", Type.TENSOR_IMPL),
        (r"(?:ostream|ostringstream|stringstream)", Type.STREAM),
        (r"(?:Dimname(?:List)?|optional<DimnameList>)", Type.DIMNAME),
        (r"(?:TensorOptions|ScalarType|Device|Layout|(?:optional<(?:ScalarType|Device|Layout)>))", Type.OPTIONS),
        (r"(?:auto|decltype\(auto\))", Type.AUTO),
    )
)  # fmt: skip


@lru_cache(maxsize=4096)
def read_type(text: str) -> Type:
    """Return the Type that a C++ type text names, or UNKNOWN for any other and for pointers."""
    bare = _QUALIFIER.sub("", text)
    if "*" in _ARGUMENTS.sub("", bare):
        return Type.UNKNOWN
    for pattern, kind in _PATTERNS:
        if pattern.match(bare):
            return kind
    return Type.UNKNOWN


def literal_type(text: str) -> Type:
    """Return the Type of a number literal."""
    text = text.lower()
    if text.startswith("0x") or not re.search(r"[.ef]", text):
        if "ll" in text:
            return Type.UNKNOWN if "u" in text else Type.LONG_LONG
        return Type.UNSIGNED if "u" in text else Type.INT
    return Type.UNKNOWN if text.endswith("f") else Type.FLOAT


_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})


def unary_type(operator: str, kind: Type) -> Type:
    """Return the result Type of a unary operator on a value of a Type."""
    if operator == "!":
        return Type.BOOL
    if operator == "*":
        dereferenced = {Type.TENSOR: Type.TENSOR, Type.OPTIONAL_TENSOR: Type.TENSOR, **HELD}
        return dereferenced.get(kind, ELEMENT.get(kind, Type.UNKNOWN))
    return kind if operator in ("-", "+", "~") else Type.UNKNOWN


def binary_type(operator: str, kinds: Set[Type]) -> Type:
    """Return the result Type of an operator between two values of these Types, neither of which is a Tensor."""
    if operator in ("&&", "||"):
        return Type.BOOL
    if operator in _COMPARISONS:
        return Type.UNKNOWN if Type.UNKNOWN in kinds else Type.BOOL
    if operator == "<<" and Type.STREAM in kinds:
        return Type.STREAM
    for kind in (Type.UNKNOWN, Type.INT_ITER, Type.SYM_ITER, Type.SYM_FLOAT):
        if kind in kinds:
            return kind
    if Type.SYM_INT in kinds:
        return Type.SYM_FLOAT if Type.FLOAT in kinds else Type.SYM_INT
    for kind in (Type.FLOAT, Type.UNSIGNED, Type.LONG_LONG, Type.INT):
        if kind in kinds:
            return kind
    return Type.INT if kinds == {Type.BOOL} else Type.UNKNOWN


_TUPLE = re.compile(r"(?:std::)?(?:tuple|pair)\s*<(.*)>\s*\Z", re.DOTALL)


@lru_cache(maxsize=4096)
def tuple_types(text: str) -> tuple[Type, ...]:
    """Return the Types of the parts of a tuple or pair, or () for any other type."""
    found = _TUPLE.match(text)
    return () if found is None else tuple(map(read_type, listed(found[1])))


_WIDE = re.compile(r"\b(?:int64_t|ptrdiff_t|long)\b")


@lru_cache(maxsize=4096)
def is_wide(text: str) -> bool:
    """Return whether an integer type can represent every size.

    A cast to a narrower one truncates, which a SymInt can't.
    """
    return _WIDE.search(text) is not None


@lru_cache(maxsize=4096)
def is_output_reference(text: str) -> bool:
    """Return whether a parameter of this type can be assigned through: a non-const lvalue reference."""
    return text.rstrip().endswith("&") and not text.rstrip().endswith("&&") and not re.search(r"\bconst\b", text)


_INTEGER = re.compile(r"\b(?:int64_t|ptrdiff_t|int32_t|long\s+long(?:\s+int)?|long(?:\s+int)?|int)\b")
_SMALL_BUFFER = re.compile(r"\b(?:c10::|at::)?SmallBuffer\s*<\s*int64_t\s*,[^<>]*>")
_INTEGER_ELEMENT = re.compile(r"(?<=<)(\s*)int64_t\b")
_NAMED = re.compile(r"\b(?=(?:IntArrayRef|DimVector)\b)|(?<=\bOptional)(?=IntArrayRef\b)")


@lru_cache(maxsize=4096)
def symbolic_text(text: str, kind: Type) -> str | None:
    """Return the text of a type's symbolic counterpart with a minimal change, or None if there is none.

    A SymInt is not trivially copyable, so ``SmallBuffer<int64_t, N>`` becomes ``c10::SymDimVector``.
    """
    if kind is Type.AUTO:
        return text
    if kind in (Type.INT, Type.LONG_LONG):
        return _INTEGER.sub("c10::SymInt", text, count=1)
    if kind is Type.FLOAT:
        return re.sub(r"\bdouble\b", "c10::SymFloat", text, count=1)
    if kind not in (Type.INT_REF, Type.INT_VEC, Type.OPTIONAL_INT, Type.OPTIONAL_INT_REF):
        return None
    for pattern, new in ((_SMALL_BUFFER, "c10::SymDimVector"), (_NAMED, "Sym"), (_INTEGER_ELEMENT, r"\1c10::SymInt")):
        changed, count = pattern.subn(new, text, count=1)
        if count:
            return changed
    return None
