"""Result types of the methods of Tensors and lists by name, and of operators by schema."""

from __future__ import annotations

import re

from ...syntax.types import ELEMENT, Type, read_type

CONCRETE = {
    "size": ("sym_size", Type.INT),
    "sizes": ("sym_sizes", Type.INT_REF),
    "stride": ("sym_stride", Type.INT),
    "strides": ("sym_strides", Type.INT_REF),
    "numel": ("sym_numel", Type.INT),
    "storage_offset": ("sym_storage_offset", Type.INT),
    "nbytes": ("sym_nbytes", Type.UNSIGNED),
}
"""Tensor methods that return concrete integers, with their symbolic twins and their return types."""

OF_STORAGES = frozenset({"nbytes", "sym_nbytes"})
"""Methods that a Storage has too."""

SYMBOLIC_CALLS = {
    "sym_size": Type.SYM_INT,
    "sym_sizes": Type.SYM_REF,
    "sym_stride": Type.SYM_INT,
    "sym_strides": Type.SYM_REF,
    "sym_numel": Type.SYM_INT,
    "sym_storage_offset": Type.SYM_INT,
    "sym_nbytes": Type.SYM_INT,
}
"""Return types of the Tensor methods that return symbolic integers."""

TENSOR_METHODS = {
    **SYMBOLIC_CALLS,
    "dim": Type.INT, "ndimension": Type.INT, "defined": Type.BOOL, "item": Type.SCALAR, "options": Type.OPTIONS,
    "scalar_type": Type.OPTIONS, "device": Type.OPTIONS, "layout": Type.OPTIONS, "dtype": Type.OPTIONS,
    "storage": Type.STORAGE, "itemsize": Type.UNSIGNED, "element_size": Type.INT,
    "unsafeGetTensorImpl": Type.TENSOR_IMPL,
}  # fmt: skip
"""Return types of the Tensor methods that return no concrete size."""
_SCHEMA = {
    "Tensor": Type.TENSOR, "Tensor[]": Type.TENSORS, "int": Type.INT, "SymInt": Type.SYM_INT, "bool": Type.BOOL,
    "float": Type.FLOAT, "Scalar": Type.SCALAR, "Tensor?": Type.OPTIONAL_TENSOR,
}  # fmt: skip
TENSOR_WRAPPERS = frozenset({"value", "value_or", "getTensorRef", "get", "toTensor"})
"""Methods that return the Tensor inside a wrapper."""
RANGES = frozenset({"c10::irange", "irange", "at::irange"})
"""Functions that count from 0, or from their first argument, up to their last."""
IN_PARTS = frozenset({"range", "structured-binding", "c-array"})
"""Kinds of declaration whose variable does not have the declared type, or has only a part of its initial value."""
_ITERATORS = frozenset({"begin", "end", "cbegin", "cend", "rbegin", "rend", "data"})
_ELEMENTS = frozenset({"front", "back", "at"})


def list_method(kind: Type, name: str) -> Type:
    """Return the result type of a method of a list, iterator, Storage, Scalar or options.

    Return UNKNOWN for other methods.
    """
    if kind is Type.SCALAR:
        return Type.INT if name == "toLong" else Type.UNKNOWN
    if kind is Type.OPTIONS and name == "itemsize":
        return Type.UNSIGNED
    if kind is Type.OPTIONS:
        return Type.UNKNOWN if name.startswith(("is_", "has_")) else Type.OPTIONS
    if kind is Type.STORAGE:
        return SYMBOLIC_CALLS.get(name, Type.UNSIGNED) if name in OF_STORAGES else Type.UNKNOWN
    symbolic = kind in (Type.SYM_REF, Type.SYM_VEC, Type.SYM_ITER)
    if name == "size":
        return Type.UNSIGNED
    if name in ("empty", "equals"):
        return Type.BOOL
    if name in _ELEMENTS:
        return ELEMENT[kind]
    if kind is Type.TENSORS:
        if name in _ITERATORS:
            return Type.TENSOR
        return Type.TENSORS if name in ("materialize", "vec", "slice") else Type.UNKNOWN
    if name in _ITERATORS:
        return Type.SYM_ITER if symbolic else Type.INT_ITER
    if name == "vec":
        return Type.SYM_VEC if symbolic else Type.INT_VEC
    if name in ("slice", "drop_front", "drop_back"):
        return Type.SYM_REF if symbolic else Type.INT_REF
    return Type.UNKNOWN


_MADE = (
    (re.compile(r"(?:c10::)?MaybeOwned<(?:at::)?Tensor>::(?:borrowed|owned)\Z"), Type.TENSOR),
    (re.compile(r"(?:at::)?detail::make_tensor(?:_base)?<[^()]*>\Z"), Type.TENSOR),
    (re.compile(r"(?:c10::)?fromIntArrayRef(?:Slow|Unchecked|KnownNonNegative)\Z"), Type.SYM_REF),
    (re.compile(r"(?:c10::)?make_intrusive<(?:c10|at)::TensorImpl>\Z"), Type.TENSOR_IMPL),
)


_LIMITS = re.compile(r"std::numeric_limits<\s*([\w:]+)\s*>::(?:max|min|lowest)\Z")


def made_type(callee: str) -> Type:
    """Return the result type of a torch factory or a numeric limit by its callee, else UNKNOWN."""
    limits = _LIMITS.match(callee)
    if limits is not None:
        return read_type(limits[1])
    return next((kind for pattern, kind in _MADE if pattern.match(callee)), Type.UNKNOWN)


def schema_type(text: str) -> Type:
    """Return the C++ type of a schema type, or UNKNOWN for one that is irrelevant here."""
    return _SCHEMA.get(re.sub(r"\([^)]*\)", "", text), Type.UNKNOWN)
