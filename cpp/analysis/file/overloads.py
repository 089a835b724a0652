"""Overload resolution among functions of one name, by the number and types of arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ....codemods.torchapi import Kernel, OverloadSignature, TorchApi
from ...syntax.declarations import Function
from ...syntax.model import Model
from ...syntax.types import HELD, LISTS, SYMBOLIC, Type

_TENSOR, _NUMBER, _LIST, _DIMNAME = "tensor", "number", "list", "dimname"
_NUMBERS = (Type.INT, Type.UNSIGNED, Type.LONG_LONG, Type.BOOL, Type.FLOAT, Type.SCALAR, Type.SYM_INT, Type.SYM_FLOAT)
_LISTS = (Type.INT_REF, Type.INT_VEC, Type.OPTIONAL_INT_REF, Type.OPTIONAL_SYM_REF, *LISTS)
_CLASSES = {
    Type.TENSOR: _TENSOR,
    Type.OPTIONAL_TENSOR: _TENSOR,
    **dict.fromkeys(_NUMBERS, _NUMBER),
    Type.OPTIONAL_INT: _NUMBER,
    Type.OPTIONAL_SYM_INT: _NUMBER,
    **dict.fromkeys(_LISTS, _LIST),
    Type.DIMNAME: _DIMNAME,
}
"""Classes of types. C++ has no implicit conversion between two classes, except from a number to a list of one."""


def resolve_overload(candidates: Sequence[tuple[Function, int]], passed: Sequence[Type]) -> list[Function]:
    """Return the candidates that accept arguments of these types. Each candidate comes with the number of arguments
    that it requires.

    If exactly one candidate accepts each argument without conversion, return only that one.
    """
    possible = [
        one
        for one, needed in candidates
        if needed <= len(passed) <= len(one.parameters) and not any(_conflict(*pair) for pair in _pairs(one, passed))
    ]
    exact = [one for one in possible if all(_alike(*pair) for pair in _pairs(one, passed))]
    return exact if len(exact) == 1 else possible


def required(model: Model, api: TorchApi, function: Function) -> int:
    """Return the minimum number of arguments of a function, or 0 if another declaration may add defaults."""
    declared = (mention.parent for mention in model.mentions.get(function.name, ()))
    if any(one is not None and one.type == "function_declarator" for one in declared):
        return 0
    if not function.internal and api.named_in_headers(function.name):
        return 0
    return sum(one.declaration.type == "parameter_declaration" for one in function.parameters)


def takes(operator: OverloadSignature, count: int, *, is_method: bool) -> bool:
    """Return whether an operator accepts ``count`` arguments."""
    parameters = operator.method_arguments if is_method else operator.arguments
    return count <= len(parameters) and all(one.default is not None for one in parameters[count:])


def as_kernel(kernel: Kernel) -> OverloadSignature:
    """Return the operator of a kernel with its arguments in the kernel's order, in which ``out`` comes last."""
    own = {argument.name: argument for argument in kernel.operator.arguments}
    names = [name for _, name in kernel.parameters]
    if own.keys() != set(names):
        return kernel.operator
    return replace(kernel.operator, arguments=tuple(own[name] for name in names))


def _pairs(function: Function, passed: Sequence[Type]) -> list[tuple[Type, Type]]:
    return [(given, one.type) for given, one in zip(passed, function.parameters, strict=False)]


def _conflict(given: Type, taken: Type) -> bool:
    one, other = _CLASSES.get(given), _CLASSES.get(taken)
    return one is not None and other is not None and one != other and (one, other) != (_NUMBER, _LIST)


def _alike(given: Type, taken: Type) -> bool:
    kinds = (taken, SYMBOLIC.get(taken), HELD.get(taken))
    return given in kinds and given is not Type.UNKNOWN
