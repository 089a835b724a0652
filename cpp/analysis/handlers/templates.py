"""Function templates of the file that are called with a SymInt instead of an integer.

The template's text is unchanged: the compiler instantiates it for the other type, and integer callers are unaffected.
So the template must not contain code that a SymInt would require to be written differently.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from ...syntax.declarations import Function, Variable
from ...syntax.tree import arguments, every
from ...syntax.types import LISTS, SYMBOLIC, Type, is_output_reference, read_type
from ..file.inference import TRANSPARENT
from ..file.methods import CONCRETE
from ..graph.dataflow_facts import Becomes, Fact, Flows, Instantiates, Links, Matches, Refuses, Requires
from ..graph.graph import Form, Value
from ..graph.reasons import SkipReason
from .pass_context import Pass

SYMINT_FORMS = "at::symint::"
"""Namespace of forms that depend on ``T``: ``at::symint::size<T>(x, 0)`` is ``x.size(0)`` or ``x.sym_size(0)``."""


def instantiate(p: Pass, function: Function, call: Node, position: int, kind: Type, cause: Value) -> Iterator[Fact]:
    """Yield the facts for a symbolic argument of a template.

    All arguments of the same type parameter must be symbolic.
    """
    (letter, *others) = sorted(_mentioned(function, function.parameters[position].type_text))
    if others or symbolic_kind(function.parameters[position], letter) is not kind or not _fits(function, letter):
        detail = f"{function.name} takes a {function.parameters[position].type_text} there"
        yield Refuses(cause, call, SkipReason.CONCRETE_PARAMETER, detail)
        return
    value = Value(Form.CALL, call.id)
    yield Links(cause, value)
    for argument, parameter in zip(arguments(call), function.parameters, strict=False):
        if letter not in _mentioned(function, parameter.type_text):
            continue
        if symbolic_kind(parameter, letter) in LISTS:
            yield Requires(value, argument)
        else:
            yield Matches(value, argument, frozenset({Type.INT}), SkipReason.CONCRETE_OPERAND)
    yield Instantiates(value, function, letter, call)


def instantiated(p: Pass, made: Instantiates) -> Iterator[Fact]:
    """Yield the facts for every value of the type parameter that is now SymInt."""
    function, letter = made.function, made.letter
    value = Value(Form.RESULT, (function.node.id, letter))
    dependent = [one for one in p.model.variables(function) if letter in _mentioned(function, one.type_text)]
    symbolic = _forms(p, function, letter)
    known = {node.id for one in dependent for node in _named(one.type_node, letter)}
    known |= {node.id for call in symbolic for node in _named(call.child_by_field_name("function"), letter)}
    for node in _named(function.node.parent, letter):
        declares = node.parent is not None and node.parent.type == "type_parameter_declaration"
        if node.id not in known and not declares:
            detail = f"{function.name} asks for {letter} where it is not known what a SymInt gives"
            yield Refuses(value, node, SkipReason.TEMPLATE_SIGNATURE, detail)
            return
    for one in dependent:
        kind = symbolic_kind(one, letter)
        if kind is Type.UNKNOWN or one.how not in ("local", "parameter") or one.function is not function:
            yield Refuses(value, one.node, SkipReason.TEMPLATE_SIGNATURE, f"{one.name} is a {one.type_text}")
            return
        yield Becomes(value, one, kind)
    for call in symbolic:
        name = p.types.callee(call).removeprefix(SYMINT_FORMS)
        if name in CONCRETE:
            yield Flows(value, call, SYMBOLIC.get(CONCRETE[name][1], Type.SYM_INT))


def depends(variable: Variable) -> bool:
    """Return whether the type of a variable names a type parameter of its function, a template."""
    return bool(_mentioned(variable.function, variable.type_text))


def symbolic_kind(variable: Variable, letter: str) -> Type:
    """Return a variable's type for a type parameter that is SymInt, or UNKNOWN for an unsupported type."""
    return read_type(re.sub(rf"\b{letter}\b", "c10::SymInt", variable.type_text))


def takes_form(p: Pass, call: Node, position: int) -> bool:
    """Return whether ``at::symint::f<T>`` takes a SymInt at a position, according to a schema of ``f``."""
    named = p.know.api.functions(p.types.callee(call).removeprefix(SYMINT_FORMS))
    return any(position < len(one.arguments) and "SymInt" in one.arguments[position].type for one in named)


def _forms(p: Pass, function: Function, letter: str) -> list[Node]:
    """Return the calls ``at::symint::f<T>`` and ``std::forward<T>`` in a template."""
    found = []
    for call in every(function.body, "call_expression"):
        callee = call.child_by_field_name("function")
        name = p.types.callee(call)
        if callee is not None and _named(callee, letter) and (name.startswith(SYMINT_FORMS) or name in TRANSPARENT):
            found.append(call)
    return found


def _named(node: Node | None, letter: str) -> list[Node]:
    """Return the nodes at or below a node that name a type parameter."""
    named = [] if node is None else every(node, "type_identifier", "identifier")
    return [one for one in named if one.text == letter.encode()]


def _mentioned(function: Function, type_text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", type_text)) & function.type_parameters


def _fits(function: Function, letter: str) -> bool:
    """Return whether a template neither returns a value of the type nor changes an argument of it."""
    returns = function.returns_node
    if returns is not None and _named(returns, letter):
        return False
    taken = (one.type_text for one in function.parameters if letter in _mentioned(function, one.type_text))
    return not any(is_output_reference(text) for text in taken)
