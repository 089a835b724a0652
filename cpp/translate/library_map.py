"""Python equivalents of the C++ libraries' functions, constants and dtypes, without operators."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from .kinds import (
    BOOL,
    DEVICE_TYPE,
    DTYPE,
    FLOAT,
    FORMAT,
    INT,
    LAYOUT,
    NULL,
    TENSOR,
    TENSOR_ARGUMENT,
    TEXT,
    list_of,
    tuple_of,
)
from .values import Level, PythonExpression, Untranslatable, call

_DTYPES = {
    "Bool": "bool", "Byte": "uint8", "Char": "int8", "Short": "int16", "Int": "int32", "Long": "int64",
    "Half": "float16", "BFloat16": "bfloat16", "Float": "float32", "Double": "float64",
    "ComplexHalf": "complex32", "ComplexFloat": "complex64", "ComplexDouble": "complex128",
}  # fmt: skip
_C_TYPES = {
    "float": "float32", "double": "float64", "at::Half": "float16", "c10::Half": "float16",
    "at::BFloat16": "bfloat16", "c10::BFloat16": "bfloat16", "int64_t": "int64", "int": "int32",
}  # fmt: skip
_DEVICES = {"CPU", "CUDA", "MPS", "Metal", "XPU", "Meta", "XLA", "HIP", "Lazy", "Vulkan", "PrivateUse1"}
_LAYOUTS = {"Strided": "strided", "Sparse": "sparse_coo", "SparseCsr": "sparse_csr", "SparseCsc": "sparse_csc",
            "SparseBsr": "sparse_bsr", "SparseBsc": "sparse_bsc", "Mkldnn": "_mkldnn"}  # fmt: skip
_FORMATS = {"Contiguous": "contiguous_format", "Preserve": "preserve_format", "ChannelsLast": "channels_last",
            "ChannelsLast3d": "channels_last_3d"}  # fmt: skip
_NUMBERS = {
    "INFINITY": ("torch.inf", FLOAT), "NAN": ("torch.nan", FLOAT), "M_PI": ("torch.pi", FLOAT),
    "nullptr": ("None", NULL), "nullopt": ("None", NULL), "true": ("True", BOOL), "false": ("False", BOOL),
    "__FILE__": ('""', TEXT), "__LINE__": ("0", INT),
    "Reduction::None": ("0", INT), "Reduction::Mean": ("1", INT), "Reduction::Sum": ("2", INT),
}  # fmt: skip
_EPSILON = re.compile(r"(?:std::)?numeric_limits<([\w:]+)>::(epsilon|max|min|lowest|infinity|quiet_NaN)\Z")
_SCOPE = re.compile(r"\b(?:std|c10|at|torch|native|detail)::")


def plain(name: str) -> str:
    """Return a qualified name without the namespaces of the libraries."""
    return _SCOPE.sub("", name)


def constant(name: str) -> PythonExpression | None:
    """Return the value of a library constant, or None."""
    bare = plain(name)
    if bare in _NUMBERS:
        text, kind = _NUMBERS[bare]
        return PythonExpression(text, kind)
    short = bare.rpartition("::")[2]
    scope = bare.rpartition("::")[0].rpartition("::")[2]
    if scope == "ScalarType" or (not scope and short[:1] == "k"):
        found = _DTYPES.get(short if scope else short[1:])
        if found:
            return PythonExpression(f"torch.{found}", DTYPE)
    if scope == "MemoryFormat" and short in _FORMATS:
        return PythonExpression(f"torch.{_FORMATS[short]}", FORMAT)
    if (scope in ("DeviceType",) and short in _DEVICES) or (not scope and short[1:] in _DEVICES and short[0] == "k"):
        return PythonExpression(f'"{(short if scope else short[1:]).lower()}"', DEVICE_TYPE)
    if scope in ("Layout",) or (not scope and short[:1] == "k"):
        found = _LAYOUTS.get(short if scope else short[1:])
        if found:
            return PythonExpression(f"torch.{found}", LAYOUT)
    return None


Arguments = Sequence[PythonExpression]
Written = Callable[[Arguments], PythonExpression]


def library(name: str) -> Written | None:
    """Return the writer of a library function's calls by its qualified name, or None for any other."""
    found = _EPSILON.match(name)
    if found is not None and found[1] in _C_TYPES:
        if found[2] in ("infinity", "quiet_NaN"):
            return lambda arguments: PythonExpression("torch.inf" if found[2] == "infinity" else "torch.nan", FLOAT)
        field = {"epsilon": "eps", "max": "max", "min": "tiny", "lowest": "min"}.get(found[2])
        if field:
            info = "iinfo" if "int" in found[1] else "finfo"
            return lambda arguments: call(f"torch.{info}(torch.{_C_TYPES[found[1]]}).{field}", FLOAT)
    return _FUNCTIONS.get(plain(name))


def _wrapped_dim(arguments: Arguments) -> PythonExpression:
    dim, rank, *rest = arguments
    if rank.kind is TENSOR:
        rank = call(f"{rank.atom}.dim()", INT)
    if dim.kind.name == "list" or len(rest) > 1:
        raise Untranslatable("`maybe_wrap_dim` of a list")
    wrap = f", wrap_scalar={rest[0].inside(Level.TERNARY)}" if rest else ""
    return call(f"utils.canonicalize_dim({rank.inside(Level.TERNARY)}, {dim.inside(Level.TERNARY)}{wrap})", INT, low=0)


def _broadcast(arguments: Arguments) -> PythonExpression:
    mine, theirs = arguments
    words = f"{mine.inside(Level.TERNARY)}, {theirs.inside(Level.TERNARY)}"
    return call(f"list(torch.broadcast_shapes({words}))", list_of(INT))


def _product(arguments: Arguments) -> PythonExpression:
    return call(f"math.prod({_spanned(arguments)})", INT, low=0)


def _sum(arguments: Arguments) -> PythonExpression:
    return call(f"sum({_spanned(arguments)})", INT)


def _spanned(arguments: Arguments) -> str:
    """Return the elements between two iterators, or of a list."""
    if len(arguments) == 1:
        return arguments[0].inside(Level.TERNARY)
    return span(arguments[0], arguments[1])


def span(start: PythonExpression, end: PythonExpression) -> str:
    """Return the part of a list between two iterators.

    Their ``text`` is a position in the list that is their ``name``.
    """
    if start.kind.name != "iterator" or end.kind.name != "iterator" or start.name != end.name:
        raise Untranslatable("a pair of iterators that are not of one list")
    first = "" if start.text == "0" else start.text
    last = "" if end.text == f"len({start.name})" else end.text.replace(f"len({start.name}) - ", "-", 1)
    return f"{start.name}[{first}:{last}]" if first or last else start.name


def _extreme(name: str) -> Written:
    def written(arguments: Arguments) -> PythonExpression:
        if len(arguments) == 1 and arguments[0].parts:
            arguments = arguments[0].parts
        if any(one.kind not in (INT, FLOAT, BOOL) for one in arguments):
            raise Untranslatable(f"`std::{name}` of {arguments[0].kind}")
        kind = FLOAT if any(one.kind is FLOAT for one in arguments) else INT
        lows = [one.low for one in arguments]
        known = [low for low in lows if low is not None]
        low = max(known, default=None) if name == "max" else min(known) if len(known) == len(lows) else None
        words = ", ".join(one.inside(Level.TERNARY) for one in arguments)
        # The operands may be sizes: Python's `max` would guard on which one is larger.
        chosen = f"torch.sym_{name}" if len(arguments) == 2 else name
        return call(f"{chosen}({words})", kind, low=low)

    return written


def _absolute(arguments: Arguments) -> PythonExpression:
    (value,) = arguments
    return call(f"abs({value.inside(Level.TERNARY)})", value.kind, low=0 if value.kind is INT else None)


def _is_integral(arguments: Arguments) -> PythonExpression:
    dtype = arguments[0].inside(Level.TERNARY)
    with_bool = arguments[1].text if len(arguments) > 1 else "False"
    if with_bool == "True":
        return PythonExpression(f"utils.is_integer_dtype({dtype}) or utils.is_boolean_dtype({dtype})", BOOL, Level.OR)
    if with_bool != "False":
        raise Untranslatable("`isIntegralType` that takes bool or not by a variable")
    return call(f"utils.is_integer_dtype({dtype})", BOOL)


def _is_reduced(arguments: Arguments) -> PythonExpression:
    # In C++ these are the floating types of at most two bytes.
    dtype = arguments[0].atom
    return PythonExpression(f"{dtype}.is_floating_point and {dtype}.itemsize < 4", BOOL, Level.AND)


def _text(arguments: Arguments) -> PythonExpression:
    (value,) = arguments
    if value.kind is FLOAT:
        return call(f'f"{{{value.inside(Level.TERNARY)}:f}}"', TEXT)
    return value if value.kind is TEXT else call(f"str({value.inside(Level.TERNARY)})", TEXT)


def _tuple(arguments: Arguments) -> PythonExpression:
    words = ", ".join(one.inside(Level.TERNARY) for one in arguments)
    return PythonExpression(
        f"({words})", tuple_of(tuple(one.kind for one in arguments)), fresh=True, parts=tuple(arguments)
    )


def _same(arguments: Arguments) -> PythonExpression:
    return arguments[0]


def _borrowed(arguments: Arguments) -> PythonExpression:
    return arguments[0].of_kind(TENSOR)


def _attribute(template: str, kind: object) -> Written:
    def written(arguments: Arguments) -> PythonExpression:
        return call(template.format(*(one.inside(Level.TERNARY) for one in arguments), a=arguments[0].atom), kind)  # type: ignore[arg-type]

    return written


def _argument_of_a_check(arguments: Arguments) -> PythonExpression:
    words = ", ".join(one.inside(Level.TERNARY) for one in arguments)
    return PythonExpression(f"({words})", TENSOR_ARGUMENT, parts=tuple(arguments))


_FUNCTIONS: dict[str, Written] = {
    "maybe_wrap_dim": _wrapped_dim,
    "infer_size": _broadcast, "infer_size_symint": _broadcast, "infer_size_dimvector": _broadcast,
    "infer_size_symdimvector": _broadcast,
    "multiply_integers": _product, "sum_integers": _sum,
    "max": _extreme("max"), "min": _extreme("min"), "abs": _absolute, "fabs": _absolute,
    "isIntegralType": _is_integral, "isReducedFloatingType": _is_reduced,
    "isFloatingType": _attribute("{a}.is_floating_point", BOOL),
    "isComplexType": _attribute("{a}.is_complex", BOOL),
    "toRealValueType": _attribute("{a}.to_real()", DTYPE), "toComplexType": _attribute("{a}.to_complex()", DTYPE),
    "promoteTypes": _attribute("torch.promote_types({0}, {1})", DTYPE),
    "canCast": _attribute("torch.can_cast({0}, {1})", BOOL),
    "typeMetaToScalarType": _same, "move": _same, "forward": _same, "make_optional": _same, "ref": _same, "cref": _same,
    "borrow_from_optional_tensor": _borrowed, "as_const": _same, "MaybeOwned::borrowed": _same,
    "to_string": _text, "make_tuple": _tuple, "make_pair": _tuple,
    "sqrt": _attribute("math.sqrt({0})", FLOAT), "log": _attribute("math.log({0})", FLOAT),
    "isnan": _attribute("math.isnan({0})", BOOL),
    "C10_AS_INTARRAYREF_SLOW": _same,
    # Tracing never sees a plain Tensor.
    "isTensorSubclassLike": lambda arguments: PythonExpression("True", BOOL),
    "areAnyTensorSubclassLike": lambda arguments: PythonExpression("True", BOOL),
    "areAnyOptionalTensorSubclassLike": lambda arguments: PythonExpression("True", BOOL),
    "TensorArg": _argument_of_a_check, "TensorGeometryArg": _argument_of_a_check,
    "expand_outplace": _attribute("torch.broadcast_tensors({0}, {1})", tuple_of((TENSOR, TENSOR))),
    "get_default_dtype_as_scalartype": lambda arguments: call("torch.get_default_dtype()", DTYPE),
}  # fmt: skip
