"""Functions that return tuples: each part becomes symbolic separately, where it is unpacked."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from ...syntax.declarations import Variable
from ...syntax.tree import ancestors, arguments
from ...syntax.types import HALVES, INTEGERS, LISTS, SYMBOLIC, SYMBOLIC_TYPES, Type, fits
from ..file.symbolic_types import twin_of
from ..graph.dataflow_facts import Fact, Flows, GivesPart, Later, Puts, Refuses, Requires, Writes
from ..graph.graph import Form, Value
from ..graph.reasons import SkipReason
from .pass_context import Pass
from .signatures import may_change, returned_values, takes_results, uses

_MAKERS = frozenset({"std::make_tuple", "std::make_pair"})


def returned_part(p: Pass, node: Node, made: Node, kind: Type, cause: Value) -> GivesPart | None:
    """Return the fact for a value in ``return std::make_tuple(…)`` or ``return {…}``, or None anywhere else."""
    around = made.parent
    if around is None or around.type != "return_statement":
        return None
    if made.type == "call_expression" and p.types.callee(made) not in _MAKERS:
        return None
    function = p.model.innermost(around)
    position = next((i for i, value in enumerate(arguments(made)) if value.id == node.id), -1)
    if function is None or position < 0 or position >= len(function.parts):
        return None
    return GivesPart(cause, function, position, kind, node)


def give_part(p: Pass, fact: GivesPart) -> Iterator[Fact]:
    """Change one part of a function's return type, and continue with its returned values and where it is unpacked."""
    function, position = fact.function, fact.position
    value = Value(Form.RESULT, (function.node.id, position))
    written = function.parts[position]
    held = p.types.named_type(written)
    refusal = may_change(p, function, result=True)
    if held in SYMBOLIC_TYPES:
        return
    text = twin_of(p.model, written, held)
    if refusal is not None:
        yield Refuses(value, fact.node, *refusal)
        return
    if text is None or not fits(fact.kind, SYMBOLIC.get(held, Type.UNKNOWN)):
        detail = f"{function.name} returns a {p.model.tree.text(written)} there"
        yield Refuses(value, fact.node, SkipReason.RETURN_TYPE, detail)
        return
    yield Writes(value, written, text)
    kind = SYMBOLIC[held]
    for node in returned_values(function):
        yield from _made(p, node, position, kind, value)
    used = uses(p, function)
    calls = list(used.calls)
    for node, reason, detail in used.escapes:
        call = next((around for around in ancestors(node) if around.type == "call_expression"), node)
        if reason is SkipReason.OVERLOADED and all(position < len(own.parts) for own in p.types.own_functions(call)):
            # All overloads return the same type.
            yield from part_of(p, call, position, value)
            calls.append(call)
        else:
            yield Refuses(value, node, reason, detail)
    for call in calls:
        if takes_results(p, call):
            yield from taken(p, call, position, kind, value)
        else:
            detail = f"{function.name} is called by a kernel too"
            yield Refuses(value, call, SkipReason.SHARED_WITH_KERNEL, detail)


def _made(p: Pass, node: Node, position: int, kind: Type, value: Value) -> Iterator[Fact]:
    """Yield the requirement on a returned tuple: an array at the position must be symbolic. C++ converts an integer."""
    made = node.type == "initializer_list" or (node.type == "call_expression" and p.types.callee(node) in _MAKERS)
    values = arguments(node) if made else []
    if position >= len(values):
        yield Refuses(value, node, SkipReason.RETURN_TYPE, "a tuple is returned that is not made there")
    elif kind in LISTS:
        yield Later(Requires(value, values[position]))


def taken(p: Pass, node: Node, position: int, kind: Type, value: Value) -> Iterator[Fact]:
    """Yield the facts where a part of a tuple is unpacked: by ``std::get``, ``std::tie`` or a structured binding."""
    around = node.parent
    if around is not None and around.type == "init_declarator":
        yield from _kept(p, node, around, position, kind, value)
        return
    if around is not None and around.type == "conditional_expression":
        yield from _either(p, node, around, position, kind, value)
        return
    if around is not None and around.type == "field_expression":
        name = around.child_by_field_name("field")
        half = None if name is None else HALVES.get(name.text or b"")
        if half is None:
            yield Refuses(value, around, SkipReason.STRUCTURED_BINDING, "the tuple is used as a whole")
        elif half == position:
            yield Later(Flows(value, around, kind))
        return
    left = None if around is None or around.type != "assignment_expression" else around.child_by_field_name("left")
    if left is not None and left.type == "call_expression" and p.types.callee(left) == "std::tie":
        target = arguments(left)[position]
        if p.model.tree.text(target) != "std::ignore":
            yield Puts(value, target, kind)
        return
    call = next(ancestors(around), around) if around is not None and around.type == "argument_list" else None
    got = None if call is None else index_of(p, call)
    if call is None or got is None:
        yield Refuses(value, node, SkipReason.STRUCTURED_BINDING, "the tuple is used as a whole")
    elif got == position:
        yield Later(Flows(value, call, kind))


def _kept(p: Pass, node: Node, declarator: Node, position: int, kind: Type, value: Value) -> Iterator[Fact]:
    name = declarator.child_by_field_name("declarator")
    while name is not None and name.type == "reference_declarator":
        name = name.named_children[-1] if name.named_children else None
    if name is not None and name.type == "structured_binding_declarator":
        bound = p.model.resolved[name.named_children[position]] if position < name.named_child_count else None
        if bound is not None:
            yield from unpack(p, bound, kind, value)
            return
    variable = None if name is None or name.type != "identifier" else p.model.resolved[name]
    if variable is None or variable.type is not Type.AUTO:
        yield Refuses(value, node, SkipReason.STRUCTURED_BINDING, "the tuple is kept in a variable of a written type")
        return
    hidden = p.model.tree.hidden_use(variable.name, variable.scope)
    if hidden is not None:
        detail = f"{variable.name} is named where the code can't be read with certainty"
        yield Refuses(value, variable.node, SkipReason(hidden), detail)
    for reference in p.model.references(variable):
        yield from taken(p, reference, position, kind, value)


def _either(p: Pass, node: Node, around: Node, position: int, kind: Type, value: Value) -> Iterator[Fact]:
    """Yield the facts for a conditional expression whose branches must return the same tuple type."""
    yield from part_of(p, around, position, value)
    yield from taken(p, around, position, kind, value)


def tied(p: Pass, node: Node, tie: Node, kind: Type, cause: Value) -> Iterator[Fact]:
    """Yield the facts for a value in ``std::tie(value, …) = …``, which receives an array or any integer."""
    position = next((i for i, value in enumerate(arguments(tie)) if value.id == node.id), 0)
    around = tie.parent
    left = None if around is None or around.type != "assignment_expression" else around.child_by_field_name("left")
    right = None if around is None else around.child_by_field_name("right")
    if left is None or right is None or left.id != tie.id:
        yield Refuses(cause, tie, SkipReason.UNKNOWN_CALLEE, "std::tie takes a symbolic value to be assigned only")
    elif kind in LISTS:
        yield from part_of(p, right, position, cause)
    elif kind is not Type.SYM_INT or not _gives_integer(p, right, position):
        detail = f"nothing says that {p.model.tree.text(right)} gives an integer there"
        yield Refuses(cause, right, SkipReason.MIXED_ASSIGNMENT, detail)


def _gives_integer(p: Pass, node: Node, position: int) -> bool:
    if node.type == "conditional_expression":
        branches = (node.child_by_field_name("consequence"), node.child_by_field_name("alternative"))
        return all(branch is not None and _gives_integer(p, branch, position) for branch in branches)
    kinds = p.types.returned(node)
    return position < len(kinds) and kinds[position] in INTEGERS


def index_of(p: Pass, call: Node) -> int | None:
    """Return the N of ``std::get<N>(…)``, or None for anything else."""
    if call.type != "call_expression" or p.types.callee(call) != "std::get":
        return None
    function = call.child_by_field_name("function")
    found = None if function is None else re.search(r"<\s*(\d+)\s*>", p.model.tree.text(function))
    return None if found is None else int(found[1])


def part_of(p: Pass, node: Node, position: int, cause: Value) -> Iterator[Fact]:
    """Yield the facts for a tuple part that must be symbolic.

    The functions that may return it must return it symbolic.
    """
    variable = p.model.resolved[node] if node.type == "identifier" else None
    if variable is not None and len(variable.initializers) == 1:
        yield from part_of(p, variable.initializers[0], position, cause)
        return
    if node.type == "conditional_expression":
        for branch in (node.child_by_field_name("consequence"), node.child_by_field_name("alternative")):
            if branch is not None:
                yield from part_of(p, branch, position, cause)
        return
    owns = p.types.own_functions(node) if node.type == "call_expression" else []
    if not owns or any(position >= len(own.parts) for own in owns):
        detail = f"{p.model.tree.text(node)} stays concrete"
        yield Refuses(cause, node, SkipReason.CONCRETE_OPERAND, detail)
    for own in owns:
        if position < len(own.parts):
            held = p.types.named_type(own.parts[position])
            yield GivesPart(cause, own, position, SYMBOLIC.get(held, held), node)


def unpack(p: Pass, bound: Variable, kind: Type, value: Value) -> Iterator[Fact]:
    """Yield the facts for a name of a structured binding that is bound to a symbolic value."""
    hidden = p.model.tree.hidden_use(bound.name, bound.scope)
    if hidden is not None:
        detail = f"{bound.name} is named where the code can't be read with certainty"
        yield Refuses(value, bound.node, SkipReason(hidden), detail)
    else:
        for reference in p.model.references(bound):
            yield Later(Flows(value, reference, kind))
