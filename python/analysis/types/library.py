"""Result kinds of the functions and methods of torch and of Python, by the kinds of their arguments."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from .may_types import Kind, Value, join

SHAPES = "torch.fx.experimental.symbolic_shapes"
_CONCRETE = frozenset(f"builtins.{name}" for name in ("len", "isinstance", "range", "hasattr", "any", "all"))
_SAME_KIND = frozenset(["list", "tuple", "sorted", "reversed", "set", "abs", "iter", "next"])
_PRODUCTS = frozenset({"math.prod", "builtins.sum", "operator.mul", "operator.add", "torch.sym_sum"})
_BOOLS = frozenset({"sym_and", "sym_or", "sym_eq", "sym_not"})
_ROUNDING = frozenset({"math.ceil", "math.floor", "math.trunc", "builtins.int", "builtins.round", "torch.sym_int"})
_NOT_TENSORS = ("sym_", "is_", "Size", "device", "dtype", "finfo", "iinfo", "_check", "get_", "can_cast", "jit", "ops")
_OTHER_RESULTS = frozenset(
    {
        "dim",
        "ndimension",
        "is_contiguous",
        "is_floating_point",
        "is_complex",
        "is_conj",
        "get_device",
        "data_ptr",
        "type",
    }
)
REDUCTIONS = frozenset({"sum", "prod", "mean", "all", "any", "min", "max", "amin", "amax", "argmin", "argmax"})
"""Methods that tensors and arrays have. Numbers and lists do not have them."""


def of_method(name: str, chosen: bool) -> Kind:
    """Return the result kind of a tensor method. ``chosen`` if it has arguments, such as a dimension."""
    if name in ("size", "sym_size"):
        return Kind.SIZE if chosen else Kind.SIZES
    if name in ("stride", "sym_stride"):
        return Kind.STRIDE if chosen else Kind.STRIDES
    if name in ("numel", "nelement", "item", "sym_numel"):
        return Kind.SIZE
    if name in ("storage_offset", "sym_storage_offset"):
        return Kind.STRIDE
    if name == "tolist":
        return Kind.SIZES
    if name.endswith("storage"):
        return Kind.UNKNOWN
    return Kind.CONCRETE if name in _OTHER_RESULTS else Kind.TENSOR


def of_function(name: str, arguments: Sequence[Value]) -> Value:
    """Return the result kind of the function with this dotted name, or UNKNOWN for an unknown name."""
    if not name:
        return Kind.UNKNOWN
    head, _, tail = name.rpartition(".")
    kinds = [one.kind for one in arguments]
    first = kinds[0] if kinds else Kind.UNKNOWN
    if head == SHAPES:
        return Kind.TRUTH if tail in _BOOLS else Kind.CONCRETE
    if name == "torch.sym_not":
        return Kind.TRUTH
    if name in ("torch.numel", "torch.sym_max", "torch.sym_min"):
        return Kind.SIZE
    if name in _CONCRETE:
        return Kind.CONCRETE
    if head == "builtins" and tail in _SAME_KIND:
        return first
    if name in ("builtins.min", "builtins.max"):
        return reduce(join, arguments) if len(arguments) > 1 else first.element
    if name in _PRODUCTS or name == "functools.reduce" or tail == "prod":
        found = next((kind for kind in kinds if kind.several or kind.symbolic_number), Kind.UNKNOWN)
        return found.element if found.several else found
    if name in _ROUNDING:
        return Kind.SIZE if first.symbolic_number else Kind.CONCRETE if first is Kind.FOREIGN else first
    if name == "builtins.float" and first.symbolic_number:
        return Kind.RATIO
    if name == "torch.Size" or (name.startswith("torch.") and tail.endswith(("_shapes", "_shape", "_size"))):
        return Kind.SIZES
    if name.startswith(("torch.", "torch.ops.aten.")) and not tail.startswith(_NOT_TENSORS) and name.count(".") == 1:
        return Kind.TENSOR
    return Kind.UNKNOWN
