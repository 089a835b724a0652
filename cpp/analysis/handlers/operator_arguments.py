"""Arguments of operators and of torch's helper functions: acceptance of symbolic values, and the symbolic names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tree_sitter import Node

from ....codemods.torchapi import Argument, OverloadSignature
from ...syntax.headers import HeaderFunction
from ...syntax.tree import arguments
from ...syntax.types import LISTS, SYMBOLIC_TYPES, Type, is_output_reference, read_type, tuple_types
from ..file.inference import Inference
from ..graph.dataflow_facts import Fact, Flows, Links, Refuses, Requires, Writes
from ..graph.graph import Form, Value
from ..graph.reasons import SkipReason
from .pass_context import Pass
from .tuples import taken

_ACCEPTS = {
    Type.SYM_INT: frozenset({"SymInt", "SymInt?", "SymInt[]", "Scalar", "Scalar?"}),
    Type.OPTIONAL_SYM_INT: frozenset({"SymInt?"}),
    Type.OPTIONAL_SYM_REF: frozenset({"SymInt[]?"}),
    Type.SYM_FLOAT: frozenset({"Scalar", "Scalar?"}),
    Type.SYM_REF: frozenset({"SymInt[]", "SymInt[]?"}),
    Type.SYM_VEC: frozenset({"SymInt[]", "SymInt[]?"}),
}
_REFUSES = {
    Type.SYM_INT: frozenset({"int", "int?", "float", "float?", "bool", "int[]"}),
    Type.OPTIONAL_SYM_INT: frozenset({"int?"}),
    Type.OPTIONAL_SYM_REF: frozenset({"int[]?"}),
    Type.SYM_FLOAT: frozenset({"float", "float?", "int", "int?"}),
    Type.SYM_REF: frozenset({"int[]", "int[]?"}),
    Type.SYM_VEC: frozenset({"int[]", "int[]?"}),
}
_CONVERTED = frozenset({(Type.SYM_VEC, Type.SYM_REF), (Type.SYM_INT, Type.OPTIONAL_SYM_INT)})
"""Implicit conversions of a symbolic argument to the parameter of a helper in torch's headers."""
_CARRIES = {
    Type.TENSOR: frozenset({"Tensor", "Tensor?", "Tensor[]"}),
    Type.SCALAR: frozenset({"Scalar", "Scalar?", "Tensor"}),
    Type.INT: frozenset(
        {
            "int",
            "int?",
            "SymInt",
            "SymInt?",
            "Scalar",
            "Scalar?",
            "float",
            "float?",
            "int[]",
            "SymInt[]",
            "bool",
            "bool?",
        }
    ),
    Type.INT_REF: frozenset({"int[]", "int[]?", "SymInt[]", "SymInt[]?"}),
    Type.INT_VEC: frozenset({"int[]", "int[]?", "SymInt[]", "SymInt[]?"}),
    Type.BOOL: frozenset({"bool", "bool?", "Scalar", "Scalar?", "int"}),
    Type.TENSORS: frozenset({"Tensor[]", "Tensor?[]"}),
    Type.DIMNAME: frozenset({"Dimname", "Dimname?", "Dimname[]", "Dimname[]?"}),
    Type.OPTIONS: frozenset({"TensorOptions", "ScalarType", "ScalarType?", "Device", "Device?", "Layout", "Layout?"}),
}
"""Schema types that accept a C++ argument, by its type. They distinguish overloads."""
_NOTHING = re.compile(r"(?:(?:::)?(?:std|c10|at)::)?nullopt")


def operator_argument(
    p: Pass, call: Node, passed: list[Node], position: int, kind: Type, cause: Value, *, is_method: bool
) -> Iterable[Fact] | None:
    """Return the facts for an operator argument, or None if the call is no operator.

    Use the ``_symint`` name if needed.
    """
    operators = [op for op in p.types.operators(call) if fits(p.types, op, is_method, passed, position)]
    if not operators:
        return None
    taken = _ACCEPTS.get(kind, frozenset())
    refused = _REFUSES.get(kind, frozenset())
    types = {op: _plain(_parameters(op, is_method)[position]) for op in operators}
    accepting = [op for op in operators if types[op] in taken]
    refusing = [op for op in operators if types[op] in refused]
    name = operators[0].cpp_name
    if refusing and not accepting:
        return (Refuses(cause, call, SkipReason.NO_SYMINT_SCHEMA, f"{name} takes {types[refusing[0]]} there"),)
    if not accepting:
        return (Refuses(cause, call, SkipReason.CONCRETE_PARAMETER, f"{name} takes {types[operators[0]]} there"),)
    if refusing or len({types[op].startswith("SymInt") for op in accepting}) > 1:
        detail = f"{name} takes a symbolic value in some of its overloads only"
        return (Refuses(cause, call, SkipReason.OVERLOADED, detail),)
    if types[accepting[0]].startswith("SymInt"):
        return _renamed(p, call, accepting, is_method, passed, cause)
    return ()


def _renamed(
    p: Pass, call: Node, operators: list[OverloadSignature], is_method: bool, passed: list[Node], cause: Value
) -> Iterator[Fact]:
    function = call.child_by_field_name("function")
    name = function if function is None or not is_method else function.child_by_field_name("field")
    while name is not None and name.type == "qualified_identifier":
        name = name.child_by_field_name("name")
    new = operators[0].symint_name
    if name is None or new is None or name.type not in ("identifier", "field_identifier"):
        yield Refuses(cause, call, SkipReason.UNSUPPORTED_SYNTAX, "the call has no plain name")
        return
    renamed = Value(Form.CALL, call.id)
    written = (name.text or b"").decode()
    yield Links(cause, renamed, None if "_symint" in written else new)
    if "_symint" not in written:
        qualifier = p.types.callee(call).rpartition("::")[0]
        if not is_method and "native" in qualifier and not p.know.api.kernels(new):
            yield Refuses(cause, call, SkipReason.NO_SYMINT_SCHEMA, f"at::native has no {new}")
            return
        yield Writes(renamed, name, new)
    for index, value in enumerate(passed):
        kinds = {_plain(_parameters(op, is_method)[index]) for op in operators}
        if any(kind in ("SymInt[]", "SymInt[]?") for kind in kinds):
            held = p.kind_of(value)
            if held in (Type.OPTIONAL_INT_REF, Type.OPTIONAL_SYM_REF):
                yield Requires(renamed, value)
            elif value.type == "initializer_list" or held in LISTS | {Type.INT_REF, Type.INT_VEC}:
                yield Requires(renamed, value, convert=True)
            elif held is Type.UNKNOWN and not _NOTHING.fullmatch(p.model.tree.text(value)):
                detail = f"{p.model.tree.text(value)} is of an unknown type"
                yield Refuses(renamed, value, SkipReason.CONCRETE_OPERAND, detail)


def header_function(
    p: Pass, call: Node, passed: list[Node], position: int, kind: Type, cause: Value
) -> Iterable[Fact] | None:
    """Return the facts for an argument of a header helper with a symbolic overload or version, else None."""
    for candidate in p.types.helpers(call) or p.types.methods_of_impl(call):
        if _takes(candidate, position, kind):
            return _helped(p, call, candidate, passed, cause)
    return None


def header_result(p: Pass, call: Node, kind: Type, cause: Value) -> Iterable[Fact] | None:
    """Return the facts that call a header helper in its form with a symbolic result, or None without such a form."""
    for candidate in p.types.helpers(call):
        if read_type(candidate.returns) is kind:
            return _helped(p, call, candidate, arguments(call), cause)
    return None


def _helped(p: Pass, call: Node, candidate: HeaderFunction, passed: list[Node], cause: Value) -> Iterator[Fact]:
    helped = Value(Form.CALL, call.id)
    yield Links(cause, helped, candidate.name)
    leaf = call.child_by_field_name("function")
    while leaf is not None and leaf.type == "qualified_identifier":
        leaf = leaf.child_by_field_name("name")
    if leaf is not None and leaf.type != "field_expression" and leaf.text != candidate.name.encode():
        yield Writes(helped, leaf, candidate.name)
    for index, value in enumerate(passed):
        if read_type(candidate.parameters[index][0]) in LISTS:
            yield Requires(helped, value, convert=True)
    returned = read_type(candidate.returns)
    if returned in SYMBOLIC_TYPES and returned is not Type.SYM_BOOL:
        yield Flows(helped, call, returned)
    parts = tuple_types(candidate.returns)
    for position, part in enumerate(parts):
        if part in SYMBOLIC_TYPES:
            yield from taken(p, call, position, part, helped)
    if returned is Type.UNKNOWN and not parts and "Sym" in candidate.returns:
        detail = f"{candidate.name} gives a {candidate.returns}"
        yield Refuses(helped, call, SkipReason.UNKNOWN_CALLEE, detail)


def _takes(candidate: HeaderFunction, position: int, kind: Type) -> bool:
    text = candidate.parameters[position][0]
    wanted = read_type(text)
    return not is_output_reference(text) and (wanted is kind or (kind, wanted) in _CONVERTED)


def fits(types: Inference, operator: OverloadSignature, is_method: bool, passed: list[Node], position: int) -> bool:
    """Return whether a call can mean an operator, judging by its other arguments."""
    parameters = _parameters(operator, is_method)
    if position >= len(parameters) or len(passed) > len(parameters):
        return False
    if any(argument.default is None for argument in _arguments_of(operator, is_method)[len(passed) :]):
        return False
    for index, value in enumerate(passed):
        if index == position:
            continue
        allowed = _CARRIES.get(types.type_of(value))
        if allowed is not None and _plain(parameters[index]) not in allowed:
            return False
        if value.type == "initializer_list" and not re.search(r"\[\d*\]|TensorOptions", parameters[index]):
            return False
    return True


def _arguments_of(operator: OverloadSignature, is_method: bool) -> tuple[Argument, ...]:
    return operator.method_arguments if is_method else operator.arguments


def _parameters(operator: OverloadSignature, is_method: bool) -> list[str]:
    return [argument.type for argument in _arguments_of(operator, is_method)]


def _plain(text: str) -> str:
    """Return a schema type without alias annotations and array lengths."""
    return re.sub(r"\[\d+\]", "[]", re.sub(r"\([^)]*\)", "", text))
