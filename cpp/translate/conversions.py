"""C++ implicit conversions between kinds of values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .kinds import (
    BOOL,
    BRACES,
    FLOAT,
    INT,
    NULL,
    SCALAR,
    TENSOR,
    TENSOR_ARGUMENT,
    UNKNOWN,
    CppKind,
    list_of,
    optional,
)
from .members import low_of, options
from .values import Level, PythonExpression, Untranslatable, call

_NUMBERS = (INT, FLOAT, BOOL)


def truth(value: PythonExpression) -> PythonExpression:
    """Return a value as a condition. For an optional, this is whether it has a value."""
    if value.kind.name == "optional":
        return PythonExpression(f"{value.inside(Level.BIT_OR)} is not None", BOOL, Level.COMPARISON)
    if value.kind not in _NUMBERS:
        raise Untranslatable(f"the truth of `{value.text}`, of kind {value.kind}")
    return (
        value if value.kind is BOOL else PythonExpression(f"{value.inside(Level.BIT_OR)} != 0", BOOL, Level.COMPARISON)
    )


def converted(value: PythonExpression, kind: CppKind) -> PythonExpression:
    """Return a value converted to the kind that C++ requires. Raise Untranslatable."""
    if kind is UNKNOWN or value.kind == kind:
        return value
    if value.kind is BRACES and value.parts is not None:
        return _braces_as(value, kind)
    if kind.name == "optional":
        if value.kind is NULL:
            return replace(value, kind=kind)
        return replace(converted(value, value.kind if value.kind.name == "optional" else kind.held), kind=kind)
    if value.kind is NULL and kind is TENSOR:
        return replace(value, kind=TENSOR)
    if value.kind.name == "optional" and value.kind.held == kind:
        raise Untranslatable(f"an optional where {kind} is asked: `{value.text}`")
    if kind.name == "list" and value.kind.name == "list" and kind.held == value.kind.held:
        return replace(value, kind=kind)
    if kind.name == "list" and not kind.owned and value.kind == kind.held:
        return PythonExpression(f"[{value.text}]", kind, fresh=True, low=value.low)
    if kind is SCALAR and value.kind in _NUMBERS:
        return replace(value, kind=SCALAR)
    if kind is INT and value.kind is BOOL:
        return call(f"int({value.text})", INT, low=0)
    if kind is FLOAT and value.kind in (INT, BOOL):
        literal = value.text.lstrip("-").isdigit()
        return (
            replace(value, text=f"{value.text}.0", kind=FLOAT) if literal else call(f"sym_float({value.text})", FLOAT)
        )
    if kind is INT and value.kind is FLOAT:
        return call(f"sym_int({value.text})", INT)
    if kind is BOOL and value.kind in _NUMBERS:
        return truth(value)
    if kind.name == "tuple" and value.kind.name == "tuple" and value.parts is not None:
        return replace(value, kind=kind)
    if kind.name == "tuple" and value.kind.name == "tuple" and len(kind.inner) == len(value.kind.inner):
        return replace(value, kind=kind)
    if kind is TENSOR and value.kind is TENSOR_ARGUMENT:
        return value.parts[0] if value.parts else PythonExpression(f"{value.atom}[0]", TENSOR)
    raise Untranslatable(f"`{value.text}`, of kind {value.kind}, where {kind} is asked")


def _braces_as(value: PythonExpression, kind: CppKind) -> PythonExpression:
    parts = value.parts or ()
    if kind.name == "list":
        if len(parts) == 1 and parts[0].kind.name == "list" and kind.held.name != "list":
            # `SymDimVector sizes{x.sizes()}` copies.
            return PythonExpression(f"list({parts[0].text})", kind, fresh=True, low=low_of(parts[0]))
        words = ", ".join(converted(part, kind.held).inside(Level.TERNARY) for part in parts)
        return PythonExpression(f"[{words}]", kind, fresh=True)
    if not parts and kind.name in ("optional", "Tensor"):
        return PythonExpression("None", kind)
    if kind.name == "tuple" and len(parts) == len(kind.inner):
        words = ", ".join(
            converted(part, inner).inside(Level.TERNARY) for part, inner in zip(parts, kind.inner, strict=True)
        )
        return PythonExpression(f"({words})", kind, fresh=True, parts=parts)
    if not parts and kind.name == "TensorOptions":
        return options(())
    if len(parts) == 1:
        return converted(parts[0], kind)
    raise Untranslatable(f"braces where {kind} is asked")


def common(first: PythonExpression, second: PythonExpression) -> CppKind:
    if first.kind == second.kind:
        return first.kind
    for one, other in ((first, second), (second, first)):
        if one.kind is NULL:
            return optional(other.kind)
        if one.kind.name == "optional" and other.kind == one.kind.held:
            return one.kind
        if one.kind in _NUMBERS and other.kind in (FLOAT, SCALAR):
            return other.kind
        if one.kind is BOOL and other.kind is INT:
            return INT
        if one.kind.name == "list" and other.kind.name == "list" and one.kind.held == other.kind.held:
            return list_of(one.kind.held, owned=False)
    raise Untranslatable(f"a choice between {first.kind} and {second.kind}")


def empty(kind: CppKind) -> PythonExpression:
    """Return the default value of a kind: an undefined Tensor, an empty list, a zero."""
    if kind.name == "list":
        return PythonExpression("[]", kind, fresh=True)
    if kind.name in ("Tensor", "optional"):
        return PythonExpression("None", kind)
    if kind in _NUMBERS:
        return PythonExpression({INT: "0", FLOAT: "0.0", BOOL: "False"}[kind], kind, low=0 if kind is INT else None)
    if kind.name == "TensorOptions":
        return options(())
    raise Untranslatable(f"an empty {kind}")


def filled(kind: CppKind, given: Sequence[PythonExpression]) -> PythonExpression:
    """Return a vector of a given number of equal elements."""
    element = given[1] if len(given) > 1 else empty(kind.held)
    if element.kind.name == "list":
        # Each element must be a separate list.
        return PythonExpression(f"[{element.text} for _ in range({given[0].text})]", kind, fresh=True)
    low = element.low if kind.held is INT else None
    return PythonExpression(
        f"[{element.text}] * {given[0].inside(Level.SIGN)}", kind, Level.PRODUCT, fresh=True, low=low
    )
