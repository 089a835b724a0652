"""Translation of members of Tensors, lists, optionals, Scalars and options that are not operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .kinds import (
    BOOL,
    DEVICE,
    DEVICE_TYPE,
    DTYPE,
    FLOAT,
    FORMAT,
    INT,
    LAYOUT,
    NAMES,
    OPTIONS,
    TENSOR_ARGUMENT,
    CppKind,
    iterator_over,
    list_of,
)
from .values import Level, PythonExpression, Untranslatable, call

Arguments = Sequence[PythonExpression]
_SIZES = list_of(INT, owned=False)


def member(holder: PythonExpression, name: str, arguments: Arguments) -> PythonExpression | None:
    """Return ``holder.name(arguments)`` if it is no operator, or None if it is unknown. Raise Untranslatable."""
    if holder.kind is TENSOR_ARGUMENT and holder.parts and not arguments:
        return member(holder.parts[0], name, arguments)
    found = _MEMBERS.get(holder.kind.name, {}).get((name, len(arguments)))
    return None if found is None else found(holder, arguments)


def _text(
    template: str, kind: CppKind, low: int | None = None, fresh: bool = True
) -> Callable[[PythonExpression, Arguments], PythonExpression]:
    def written(holder: PythonExpression, arguments: Arguments) -> PythonExpression:
        words = [one.inside(Level.TERNARY) for one in arguments]
        return call(template.format(*words, a=holder.atom, t=holder.inside(Level.TERNARY)), kind, fresh, low)

    return written


def _compared(template: str) -> Callable[[PythonExpression, Arguments], PythonExpression]:
    def written(holder: PythonExpression, arguments: Arguments) -> PythonExpression:
        if holder.text == "None":
            return PythonExpression("False", BOOL)
        return PythonExpression(template.format(a=holder.atom), BOOL, Level.COMPARISON)

    return written


def _held_against(sign: str) -> Callable[[PythonExpression, Arguments], PythonExpression]:
    def written(holder: PythonExpression, arguments: Arguments) -> PythonExpression:
        text = f"{holder.inside(Level.BIT_OR)} {sign} {arguments[0].inside(Level.BIT_OR)}"
        return PythonExpression(text, BOOL, Level.COMPARISON)

    return written


def _is_a(words: str, also: str = "") -> Callable[[PythonExpression, Arguments], PythonExpression]:
    def written(holder: PythonExpression, arguments: Arguments) -> PythonExpression:
        text = f"isinstance({holder.inside(Level.TERNARY)}, {words})"
        return PythonExpression(text + also, BOOL, Level.AND if also else Level.ATOM)

    return written


def _options(holder: PythonExpression, arguments: Arguments) -> PythonExpression:
    pairs = [(name, f"{holder.atom}.{name}") for name in ("dtype", "layout", "device")]
    return options(pairs)


def options(pairs: Sequence[tuple[str, str]]) -> PythonExpression:
    """Return TensorOptions with these fields."""
    words = ", ".join(f'"{name}": {text}' for name, text in pairs)
    return PythonExpression(f"{{{words}}}", OPTIONS, fresh=True, fields=tuple(pairs))


def _changed(field: str) -> Callable[[PythonExpression, Arguments], PythonExpression]:
    def written(holder: PythonExpression, arguments: Arguments) -> PythonExpression:
        text = arguments[0].inside(Level.TERNARY)
        if holder.fields is not None:
            pairs = dict(holder.fields) | {field: text}
            return options(list(pairs.items()))
        return PythonExpression(f'{{**{holder.atom}, "{field}": {text}}}', OPTIONS, fresh=True)

    return written


def _got(field: str, kind: CppKind) -> Callable[[PythonExpression, Arguments], PythonExpression]:
    return lambda holder, arguments: call(f'{holder.atom}["{field}"]', kind)


def _value(holder: PythonExpression, arguments: Arguments) -> PythonExpression:
    return PythonExpression(holder.text, holder.kind.held, holder.level, name=holder.name)


def _value_or(holder: PythonExpression, arguments: Arguments) -> PythonExpression:
    (other,) = arguments
    held = holder.kind.held
    if holder.text == "None":
        return other
    text = f"{holder.inside(Level.OR)} if {holder.inside(Level.BIT_OR)} is not None else {other.inside(Level.TERNARY)}"
    if not holder.name:
        raise Untranslatable(f"`value_or` of `{holder.text}`, which would be evaluated twice")
    return PythonExpression(text, held, Level.TERNARY)


def _end(holder: PythonExpression, arguments: Arguments) -> PythonExpression:
    return PythonExpression(f"len({holder.text})", iterator_over(holder.kind), name=holder.atom)


def _begin(holder: PythonExpression, arguments: Arguments) -> PythonExpression:
    return PythonExpression("0", iterator_over(holder.kind), name=holder.atom)


def _element(place: str) -> Callable[[PythonExpression, Arguments], PythonExpression]:
    return lambda holder, arguments: call(f"{holder.atom}[{place}]", holder.kind.held, fresh=False, low=low_of(holder))


def low_of(holder: PythonExpression) -> int | None:
    """Return the known lower bound of the elements of a list, or None."""
    return 0 if holder.text.endswith((".shape", ".stride()")) else holder.low


def _copied(holder: PythonExpression, arguments: Arguments) -> PythonExpression:
    return PythonExpression(f"list({holder.text})", list_of(holder.kind.held), fresh=True, low=low_of(holder))


def _sliced(holder: PythonExpression, arguments: Arguments) -> PythonExpression:
    start = arguments[0]
    first = "" if start.text == "0" else start.inside(Level.TERNARY)
    last = ""
    if len(arguments) > 1:
        length = arguments[1]
        last = length.text if not first else f"{start.inside(Level.SUM)} + {length.inside(Level.PRODUCT)}"
    return PythonExpression(
        f"{holder.atom}[{first}:{last}]", list_of(holder.kind.held, owned=False), low=low_of(holder)
    )


def _equal(holder: PythonExpression, arguments: Arguments) -> PythonExpression:
    return same_lists(holder, arguments[0])


def same_lists(mine: PythonExpression, theirs: PythonExpression) -> PythonExpression:
    """Return the comparison of two lists by elements. A tuple is never equal to a list in Python."""
    plain = [one.text if one.text.endswith(".shape") else f"tuple({one.text})" for one in (mine, theirs)]
    return PythonExpression(f"{plain[0]} == {plain[1]}", BOOL, Level.COMPARISON)


_TENSOR: dict[tuple[str, int], Callable[[PythonExpression, Arguments], PythonExpression]] = {
    ("dim", 0): _text("{a}.dim()", INT, 0), ("ndimension", 0): _text("{a}.dim()", INT, 0),
    ("sizes", 0): _text("{a}.shape", _SIZES, fresh=False), ("sym_sizes", 0): _text("{a}.shape", _SIZES, fresh=False),
    ("size", 1): _text("{a}.size({0})", INT, 0), ("sym_size", 1): _text("{a}.size({0})", INT, 0),
    ("numel", 0): _text("{a}.numel()", INT, 0), ("sym_numel", 0): _text("{a}.numel()", INT, 0),
    ("stride", 1): _text("{a}.stride({0})", INT, 0), ("sym_stride", 1): _text("{a}.stride({0})", INT, 0),
    ("strides", 0): _text("{a}.stride()", _SIZES), ("sym_strides", 0): _text("{a}.stride()", _SIZES),
    ("sym_storage_offset", 0): _text("{a}.storage_offset()", INT, 0),
    ("storage_offset", 0): _text("{a}.storage_offset()", INT, 0),
    ("scalar_type", 0): _text("{a}.dtype", DTYPE, fresh=False), ("dtype", 0): _text("{a}.dtype", DTYPE, fresh=False),
    ("device", 0): _text("{a}.device", DEVICE, fresh=False), ("layout", 0): _text("{a}.layout", LAYOUT, fresh=False),
    ("options", 0): _options, ("defined", 0): _compared("{a} is not None"),
    ("is_complex", 0): _text("{a}.is_complex()", BOOL),
    ("is_floating_point", 0): _text("{a}.is_floating_point()", BOOL),
    ("is_signed", 0): _text("{a}.is_signed()", BOOL), ("is_conj", 0): _text("{a}.is_conj()", BOOL),
    ("get_device", 0): _text("{a}.get_device()", INT), ("is_neg", 0): _text("{a}.is_neg()", BOOL),
    ("requires_grad", 0): _text("{a}.requires_grad", BOOL),
    ("is_contiguous", 0): _text("{a}.is_contiguous()", BOOL),
    ("is_contiguous", 1): _text("{a}.is_contiguous(memory_format={0})", BOOL),
    ("suggest_memory_format", 0): _text("utils.suggest_memory_format({t})", FORMAT),
    ("is_cuda", 0): _text("{a}.is_cuda", BOOL), ("is_cpu", 0): _text("{a}.is_cpu", BOOL),
    ("is_mps", 0): _text("{a}.is_mps", BOOL), ("is_sparse", 0): _text("{a}.is_sparse", BOOL),
    ("is_mkldnn", 0): _text("{a}.is_mkldnn", BOOL), ("is_quantized", 0): _text("{a}.is_quantized", BOOL),
    ("is_nested", 0): _text("{a}.is_nested", BOOL), ("is_meta", 0): _text("{a}.is_meta", BOOL),
    ("is_xpu", 0): _text("{a}.is_xpu", BOOL), ("is_sparse_csr", 0): _text("{a}.layout == torch.sparse_csr", BOOL),
    ("has_names", 0): _text("False", BOOL),
    ("names", 0): _text("None", NAMES),
}  # fmt: skip
_LIST: dict[tuple[str, int], Callable[[PythonExpression, Arguments], PythonExpression]] = {
    ("size", 0): _text("len({t})", INT, 0),
    ("empty", 0): lambda holder, arguments: PythonExpression(f"len({holder.text}) == 0", BOOL, Level.COMPARISON),
    ("back", 0): _element("-1"), ("front", 0): _element("0"),
    ("vec", 0): _copied, ("toVec", 0): _copied, ("copy", 0): _copied,
    ("data", 0): _begin, ("begin", 0): _begin, ("cbegin", 0): _begin, ("end", 0): _end, ("cend", 0): _end,
    ("slice", 1): _sliced, ("slice", 2): _sliced, ("equals", 1): _equal,
    ("at", 1): lambda holder, arguments: call(f"{holder.atom}[{arguments[0].text}]", holder.kind.held, fresh=False),
}  # fmt: skip
_INTEGER: dict[tuple[str, int], Callable[[PythonExpression, Arguments], PythonExpression]] = {
    ("guard_int", 2): lambda holder, arguments: call(f"int({holder.text})", INT, low=holder.low),
    ("expect_int", 0): lambda holder, arguments: call(f"int({holder.text})", INT, low=holder.low),
    ("max", 1): lambda holder, arguments: call(f"torch.sym_max({holder.text}, {arguments[0].text})", INT),
    ("min", 1): lambda holder, arguments: call(f"torch.sym_min({holder.text}, {arguments[0].text})", INT),
    ("sym_eq", 1): _held_against("=="), ("sym_ne", 1): _held_against("!="), ("sym_lt", 1): _held_against("<"),
    ("sym_le", 1): _held_against("<="), ("sym_gt", 1): _held_against(">"), ("sym_ge", 1): _held_against(">="),
}  # fmt: skip
_SCALAR: dict[tuple[str, int], Callable[[PythonExpression, Arguments], PythonExpression]] = {
    ("toDouble", 0): _text("sym_float({t})", FLOAT), ("toFloat", 0): _text("sym_float({t})", FLOAT),
    ("toLong", 0): _text("sym_int({t})", INT), ("toInt", 0): _text("sym_int({t})", INT),
    ("toSymInt", 0): _text("sym_int({t})", INT), ("toBool", 0): _text("bool({t})", BOOL),
    ("isComplex", 0): _is_a("complex"), ("isBoolean", 0): _is_a("(bool, torch.SymBool)"),
    ("isFloatingPoint", 0): _is_a("(float, torch.SymFloat)"),
    ("type", 0): lambda holder, arguments: call(f"utils.type_to_dtype(type({holder.text}))", DTYPE),
}  # fmt: skip
_OPTIONS: dict[tuple[str, int], Callable[[PythonExpression, Arguments], PythonExpression]] = {
    ("dtype", 1): _changed("dtype"), ("device", 1): _changed("device"), ("layout", 1): _changed("layout"),
    ("dtype", 0): _got("dtype", DTYPE), ("device", 0): _got("device", DEVICE), ("layout", 0): _got("layout", LAYOUT),
}  # fmt: skip
_DEVICE: dict[tuple[str, int], Callable[[PythonExpression, Arguments], PythonExpression]] = {
    ("type", 0): _text("{a}.type", DEVICE_TYPE),
    ("is_cuda", 0): _text('({a}.type == "cuda")', BOOL), ("is_cpu", 0): _text('({a}.type == "cpu")', BOOL),
    ("is_mps", 0): _text('({a}.type == "mps")', BOOL), ("is_meta", 0): _text('({a}.type == "meta")', BOOL),
}  # fmt: skip
_STRING: dict[tuple[str, int], Callable[[PythonExpression, Arguments], PythonExpression]] = {
    ("c_str", 0): lambda holder, arguments: holder,
    ("empty", 0): lambda holder, arguments: PythonExpression(f"len({holder.text}) == 0", BOOL, Level.COMPARISON),
}  # fmt: skip
_OPTIONAL: dict[tuple[str, int], Callable[[PythonExpression, Arguments], PythonExpression]] = {
    ("has_value", 0): _compared("{a} is not None"), ("value", 0): _value, ("value_or", 1): _value_or,
    ("toOptional", 0): lambda holder, arguments: holder,
}  # fmt: skip
_MEMBERS = {
    "Tensor": _TENSOR, "list": _LIST, "integer": _INTEGER, "Scalar": _SCALAR, "TensorOptions": _OPTIONS,
    "Device": _DEVICE, "optional": _OPTIONAL, "string": _STRING,
}  # fmt: skip
