"""Variables that store symbolic values: their declarations, uses and container elements."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from ...syntax.declarations import Variable
from ...syntax.tree import arguments, every
from ...syntax.types import SYMBOLIC, SYMBOLIC_TYPES, Type, fits, is_output_reference
from ..file.saved_data_syntax import slot
from ..file.symbolic_types import twin_of
from ..graph.dataflow_facts import (
    Becomes,
    Deduces,
    Fact,
    Flows,
    Keeps,
    Later,
    Links,
    Puts,
    Refuses,
    Requires,
    Stores,
    Widens,
    Writes,
)
from ..graph.graph import Form, Value
from ..graph.reasons import SkipReason
from .autograd_apply import BEFORE, applying
from .backward_requirements import iterated
from .pass_context import Pass
from .signatures import follows_schema, may_change, uses

_FIXED = frozenset({"structured-binding", "c-array"})


def store(p: Pass, stored: Stores) -> tuple[Fact, ...]:
    """Return the facts that promote the variable into which a value is stored, or the refusal."""
    variable, kind, cause = stored.variable, stored.kind, stored.cause
    symbolic = p.promoted.get(variable.node.id)
    if symbolic is not None and fits(kind, symbolic):
        return (Links(cause, Value(Form.VARIABLE, variable.node.id)),)
    held = p.types.type_of(variable.node) if variable.type is Type.AUTO else variable.type
    target = SYMBOLIC.get(held)
    if held in SYMBOLIC_TYPES or (held is Type.SCALAR and kind in (Type.SYM_INT, Type.SYM_FLOAT)):
        return ()
    if variable.type is Type.AUTO and target is None:
        target = kind
    if variable.how in _FIXED:
        return (Refuses(cause, stored.node, SkipReason(variable.how), f"{variable.name} can't change its type alone"),)
    if target is None or not fits(kind, target):
        detail = f"{variable.name} is declared {variable.type_text}"
        return (Refuses(cause, stored.node, SkipReason.DECLARED_TYPE, detail),)
    return (Becomes(cause, variable, target),)


def become(p: Pass, fact: Becomes, dependent: bool) -> Iterator[Fact]:
    """Change a variable to its symbolic type, and yield facts for each of its uses.

    The type of a ``dependent`` variable is a parameter of its function template.
    """
    variable, kind = fact.variable, fact.kind
    value = Value(Form.VARIABLE, variable.node.id)
    refusal = _fixed(p, variable)
    if refusal is not None:
        yield Refuses(value, variable.node, *refusal)
        return
    if variable.how == "parameter" and not dependent:
        yield from _parameter(p, variable, kind, value)
    if variable.type is not Type.AUTO and not dependent:
        yield _retyped(p, variable, value)
        for sibling in p.model.siblings(variable):
            yield Later(Becomes(value, sibling, kind))
    deduced = variable.type is Type.AUTO and variable.how == "range"
    if variable.how != "parameter" and (deduced or is_output_reference(variable.type_text)):
        for initializer in variable.initializers:
            container = _container(p, initializer)
            if p.types.type_of(container) in (Type.INT_REF, Type.INT_VEC):
                yield Later(Requires(value, container))
    if variable.how in ("local", "capture"):
        yield from _initialized(p, variable, kind, value)
    for reference in p.model.references(variable):
        yield Later(Flows(value, reference, kind))


def _fixed(p: Pass, variable: Variable) -> tuple[SkipReason, str] | None:
    """Return the reason why a variable can't change its type, or None if it can."""
    name = variable.name
    hidden = p.model.tree.hidden_use(name, variable.scope)
    if hidden is not None:
        return SkipReason(hidden), f"{name} is named where the code can't be read with certainty"
    if re.search(r"\b(?:static|thread_local|constexpr)\b", variable.type_text):
        return SkipReason.STATIC_STORAGE, f"{name} outlives the call that sets it"
    if re.search(r"\bvolatile\b", variable.type_text) or _jumped_over(variable):
        return SkipReason.DECLARED_TYPE, f"{name} can only be of a plain type"
    if variable.how in _FIXED:
        return SkipReason(variable.how), f"{name} can't change its type alone"
    return None


def _jumped_over(variable: Variable) -> bool:
    """Return whether a jump may bypass a declaration without an initializer. C++ forbids that for an object."""
    if variable.how != "local" or variable.initializers:
        return False
    around = variable.declaration.parent
    in_case = around is not None and around.type == "case_statement"
    return in_case or bool(every(variable.function.body, "goto_statement"))


def _container(p: Pass, value: Node) -> Node:
    """Return the container whose element a reference or range variable names. It must be symbolic too."""
    if value.type == "subscript_expression":
        return value.child_by_field_name("argument") or value
    method = p.types.receiver(value) if value.type == "call_expression" else None
    return method[0] if method is not None and method[1] in ("front", "back", "at") else value


def _retyped(p: Pass, variable: Variable, value: Value) -> Fact:
    node = variable.type_node
    text = None if node is None else twin_of(p.model, node, variable.type)
    if node is None or text is None:
        return Refuses(value, variable.node, SkipReason.DECLARED_TYPE, f"{variable.type_text} has no symbolic twin")
    return Writes(value, node, text)


def _initialized(p: Pass, variable: Variable, kind: Type, value: Value) -> Iterator[Fact]:
    if kind in (Type.SYM_INT, Type.SYM_FLOAT):
        if variable.type is Type.AUTO:
            yield Deduces(value, variable)
        return
    counted = bool(variable.initializers) and variable.initializers[-1].type == "number_literal"
    for initializer in variable.initializers:
        held = p.kind_of(initializer)
        if (
            held in (Type.INT_REF, Type.INT_VEC, Type.INT_ITER, Type.OPTIONAL_INT_REF)
            or initializer.type == "initializer_list"
        ):
            yield Later(Requires(value, initializer))
        elif held is Type.UNKNOWN and not (counted and len(variable.initializers) == 2):
            detail = f"the value {variable.name} starts with is of an unknown type"
            yield Refuses(value, initializer, SkipReason.UNKNOWN_INITIALIZER, detail)


def _parameter(p: Pass, variable: Variable, kind: Type, value: Value) -> Iterator[Fact]:
    function = variable.function
    refusal = None if follows_schema(p, variable) else may_change(p, function)
    if refusal is not None:
        yield Refuses(value, variable.node, *refusal)
        return
    if function.in_class:
        yield from _of_apply(p, variable, kind, value)
        return
    used = uses(p, function)
    for escape in used.escapes:
        yield Refuses(value, *escape)
    by_reference = is_output_reference(variable.type_text)
    if kind is Type.SYM_INT and not by_reference:
        return
    for call in used.calls:
        handed = arguments(call)
        if variable.position >= len(handed):
            continue
        argument = handed[variable.position]
        if not p.know.eligibility.is_eligible(p.model.function_at(call.start_byte)):
            detail = f"{function.name} is called from kernel code too"
            yield Refuses(value, call, SkipReason.SHARED_WITH_KERNEL, detail)
        elif by_reference and kind in (Type.SYM_INT, Type.SYM_FLOAT):
            target = p.model.resolved[argument] if argument.type == "identifier" else None
            if target is None:
                yield Refuses(value, argument, SkipReason.OUTPUT_REFERENCE)
            else:
                yield Later(Stores(value, target, kind, argument))
        else:
            yield Later(Requires(value, argument, convert=True))


def _of_apply(p: Pass, variable: Variable, kind: Type, value: Value) -> Iterator[Fact]:
    """Yield the requirements on the arguments of every ``apply`` for a parameter of an autograd ``forward``."""
    for call in applying(p, variable.function):
        handed = arguments(call)
        if kind is not Type.SYM_INT and variable.position - BEFORE < len(handed):
            yield Later(Requires(value, handed[variable.position - BEFORE]))


def put(p: Pass, assigned: Puts) -> Iterator[Fact]:
    """Yield the facts for a symbolic value that is assigned to an lvalue."""
    target, kind, cause = assigned.node, assigned.kind, assigned.cause
    held = p.types.type_of(target)
    if held in SYMBOLIC_TYPES or (held is Type.SCALAR and kind in (Type.SYM_INT, Type.SYM_FLOAT)):
        return
    variable = p.model.resolved[target] if target.type == "identifier" else None
    key, field = slot(p.model, target), p.types.field_of(target)
    base = _assigned_container(p, target)
    if variable is not None:
        yield Stores(cause, variable, kind, target)
    elif key is not None:
        yield Keeps(cause, target, key, kind)
    elif field is not None and fits(kind, SYMBOLIC.get(field.type, Type.UNKNOWN)):
        yield Widens(cause, field, target)
    elif (
        base is not None
        and kind is Type.SYM_INT
        and Type.SYM_VEC in (p.kind_of(base), SYMBOLIC.get(p.types.type_of(base)))
    ):
        yield Requires(cause, base)
    else:
        detail = f"the value is stored in {p.model.tree.text(target)}"
        yield Refuses(cause, target, SkipReason.UNKNOWN_TARGET, detail)


def _assigned_container(p: Pass, target: Node) -> Node | None:
    base = target.child_by_field_name("argument") if target.type == "subscript_expression" else None
    if base is not None and p.types.type_of(base) is Type.INT_ITER:
        return iterated(p.types, base)
    if target.type == "call_expression":
        method = p.types.receiver(target)
        return method[0] if method is not None and method[1] in ("front", "back", "at") else None
    return base
