"""Arguments that an autograd kernel forwards by ``X::apply(…)`` or through an operator handle of the dispatcher.

``X::apply(a, b)`` of a ``torch::autograd::Function`` calls ``X::forward(ctx, a, b)``. A handle is the result of
``findSchemaOrThrow("ns::f", "").typed<Tensor(const Tensor&, int64_t)>()``. Its template argument names the parameter
types.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tree_sitter import Node

from ...syntax.declarations import Function
from ...syntax.tree import arguments, every
from ...syntax.types import LISTS, SYMBOLIC, SYMBOLIC_TYPES, Type
from ..file.registrations import autograd_class, autograd_methods
from ..file.symbolic_types import twin_of
from ..graph.dataflow_facts import Becomes, Fact, Later, Refuses, Requires, Writes
from ..graph.graph import Value
from ..graph.reasons import SkipReason
from .pass_context import Pass

BEFORE = 1
"""Number of parameters of ``forward``, the context, that precede the arguments of ``apply``."""
_FOUND = re.compile(r'\bfindSchemaOrThrow\s*\(\s*"([\w:]+)"\s*,\s*"(\w*)"\s*\)', re.DOTALL)
_CALLED = frozenset({"call", "redispatch"})


def applied(p: Pass, node: Node, call: Node, position: int, kind: Type, cause: Value) -> Iterator[Fact] | None:
    """Return the facts for ``forward`` of an argument of ``X::apply``, or None for any other call."""
    forward = [one for one in autograd_methods(call, p.model) if one.name == "forward"]
    if len(forward) != 1 or position + BEFORE >= len(forward[0].parameters):
        return None
    return _parameter(forward[0], position + BEFORE, node, kind, cause)


def _parameter(function: Function, position: int, node: Node, kind: Type, cause: Value) -> Iterator[Fact]:
    parameter = function.parameters[position]
    if parameter.type in SYMBOLIC_TYPES:
        return
    if SYMBOLIC.get(parameter.type) is not kind:
        detail = f"{function.name} takes a {parameter.type_text} there"
        yield Refuses(cause, node, SkipReason.CONCRETE_PARAMETER, detail)
        return
    yield Becomes(cause, parameter, kind)


def applying(p: Pass, forward: Function) -> list[Node]:
    """Return the calls of ``X::apply`` in the file, for the ``forward`` of an X that the file defines."""
    name = autograd_class(forward, p.model)
    calls = every(p.model.tree.root, "call_expression") if name is not None else []
    return [call for call in calls if forward in autograd_methods(call, p.model)]


def handled(
    p: Pass, call: Node, position: int, receiver: Node, name: str, kind: Type, cause: Value
) -> Iterable[Fact] | None:
    """Return the facts for an argument of ``handle.call(…)``, or None if the handle's type is not spelled out."""
    maker = _maker(p, receiver)
    found = None if maker is None else _FOUND.search(p.model.tree.text(maker))
    if maker is None or found is None or name not in _CALLED:
        return None
    listed = next(iter(every(maker, "abstract_function_declarator")), None)
    listed = None if listed is None else listed.child_by_field_name("parameters")
    taken = [] if listed is None else [one for one in listed.named_children if one.type != "comment"]
    place = position - (name == "redispatch")
    if not 0 <= place < len(taken):
        return None
    operator = f"{found[1]}.{found[2]}".rstrip(".")
    return (
        *_handle(p, call, taken[place], operator, place, kind, cause),
        *_other_calls(p, receiver, position, kind, cause),
    )


def _handle(
    p: Pass, call: Node, parameter: Node, operator: str, place: int, kind: Type, cause: Value
) -> Iterator[Fact]:
    node = parameter.child_by_field_name("type")
    held = p.model.names.read(p.model.tree.text(parameter), parameter)
    if held is kind or (held in SYMBOLIC_TYPES and SYMBOLIC.get(held, held) is kind):
        return
    text = None if node is None else twin_of(p.model, node, held)
    if node is None or text is None or SYMBOLIC.get(held) is not kind:
        detail = f"the handle of {operator} takes a {p.model.tree.text(parameter)} there"
        yield Refuses(cause, call, SkipReason.CONCRETE_PARAMETER, detail)
    elif (operator, place) not in p.symbolic_arguments:
        yield Refuses(cause, call, SkipReason.NO_SYMINT_SCHEMA, f"the schema of {operator} takes plain integers there")
    else:
        yield Writes(cause, node, text)


def _other_calls(p: Pass, receiver: Node, position: int, kind: Type, cause: Value) -> Iterator[Fact]:
    """Yield requirements on the arrays that other calls of the handle pass. Integers convert to SymInt implicitly."""
    variable = p.model.resolved[receiver] if receiver.type == "identifier" else None
    if variable is None or kind not in LISTS:
        return
    for use in p.model.references(variable):
        call = None if use.parent is None else use.parent.parent
        handed = arguments(call) if call is not None and call.type == "call_expression" else []
        if use.id != receiver.id and position < len(handed):
            yield Later(Requires(cause, handed[position]))


def _maker(p: Pass, receiver: Node) -> Node | None:
    """Return the expression that creates a handle and contains ``typed<…>``, or None."""
    if receiver.type == "call_expression":
        return receiver if b"typed<" in (receiver.text or b"") else None
    variable = p.model.resolved[receiver] if receiver.type == "identifier" else None
    if variable is None or variable.type is not Type.AUTO or len(variable.initializers) != 1:
        return None
    made = variable.initializers[0]
    return made if made.type == "call_expression" and b"typed<" in (made.text or b"") else None
