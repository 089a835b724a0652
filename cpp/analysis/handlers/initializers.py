"""Symbolic values that initialize variables: by ``=``, in parentheses, in a vexing parse, or by lambda capture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tree_sitter import Node

from ...syntax.declarations import Variable, moved, vexing_arguments
from ...syntax.tree import arguments, every
from ...syntax.types import SYMBOLIC_TYPES, Type
from ..graph.dataflow_facts import Becomes, Fact, Rearranges, Refuses, Requires, Stores
from ..graph.graph import Value
from ..graph.reasons import SkipReason
from .calls import argument
from .conditions import SIMPLE
from .pass_context import Pass

_NAMES = ("type_identifier", "parameter_declaration")
"""Node types of a plain name inside a declaration that is parsed as a function's."""
_OVERWRITE = ("std::iota", "std::fill")
_TAKE_ONE = (Type.INT, Type.LONG_LONG, Type.INT_REF, Type.FLOAT, Type.AUTO, Type.SCALAR)


def initialized(p: Pass, node: Node, parent: Node, kind: Type, cause: Value) -> tuple[Fact, ...]:
    """Return the facts for a symbolic value behind the ``=`` of a declaration, or in its braces."""
    variable = _declared(p, parent)
    if variable is None:
        return (Refuses(cause, parent, SkipReason.STRUCTURED_BINDING),)
    if node.type != "initializer_list" or variable.type is Type.INT_VEC:
        return (Stores(cause, variable, kind, node),)
    if variable.type in (Type.INT, Type.LONG_LONG) or variable.how == "c-array":
        return (Becomes(cause, variable, Type.SYM_INT),)
    if variable.type is Type.SYM_VEC:
        return ()
    detail = f"{variable.name} is declared {variable.type_text}"
    return (Refuses(cause, parent, SkipReason.DECLARED_TYPE, detail),)


def _declared(p: Pass, declarator: Node) -> Variable | None:
    name = declarator.child_by_field_name("declarator")
    while name is not None and name.type not in ("identifier", "structured_binding_declarator"):
        name = name.child_by_field_name("declarator") or (name.named_children[-1] if name.named_children else None)
    return None if name is None or name.type != "identifier" else p.model.resolved[name]


def passed(p: Pass, node: Node, parent: Node, kind: Type, cause: Value) -> Iterable[Fact]:
    """Return the facts for a symbolic value in the parentheses of a call or of a declaration."""
    around = parent.parent
    if around is None:
        return ()
    if around.type == "call_expression":
        return argument(p, node, around, kind, cause)
    if around.type != "init_declarator":
        detail = f"the value flows into a {around.type.replace('_', ' ')}"
        return (Refuses(cause, around, SkipReason.UNSUPPORTED_SYNTAX, detail),)
    variable = _declared(p, around)
    if variable is None:
        detail = "the value constructs something that has no name"
        return (Refuses(cause, around, SkipReason.UNSUPPORTED_SYNTAX, detail),)
    return _constructed(p, variable, parent, arguments(parent), node, kind, cause)


def vexing(p: Pass, node: Node, parent: Node, kind: Type, cause: Value) -> Iterator[Fact]:
    """Yield the facts for a symbolic value in an initializer that the grammar parses as a parameter list."""
    listed = parent.parent
    declarator = None if listed is None else listed.parent
    around = None if declarator is None else declarator.parent
    if around is not None and moved(around) == node:
        listed = around.parent
        declarator = None if listed is None else listed.parent
    name = None if declarator is None else declarator.child_by_field_name("declarator")
    variable = None if name is None else p.model.resolved[name]
    if listed is None or variable is None or variable.how != "local":
        yield Refuses(cause, parent, SkipReason.UNSUPPORTED_SYNTAX, "the value stands where a type could")
    else:
        yield from _constructed(p, variable, listed, vexing_arguments(listed), node, kind, cause)


def _constructed(
    p: Pass, variable: Variable, listed: Node, values: list[Node], node: Node, kind: Type, cause: Value
) -> Iterator[Fact]:
    """Yield the facts for a symbolic value that is a constructor argument of a declared variable."""
    position = next((i for i, value in enumerate(values) if value.id == node.id), 0)
    if variable.type is Type.TENSORS:
        detail = f"the value decides how many Tensors {variable.name} holds"
        yield Refuses(cause, node, SkipReason.DECIDES_ARITY, detail)
    elif variable.type is Type.INT_VEC and kind is Type.SYM_ITER and len(values) == 2 and _overwritten(p, variable):
        first, last = values
        yield Requires(cause, last if node.id == first.id else first)
        if node.id == first.id:
            begin = (first,) if first.type in {*SIMPLE, *_NAMES} else ("(", first, ")")
            yield Rearranges(cause, listed, ("(", last, " - ", *begin, ")"))
    elif variable.type in (Type.INT_VEC, Type.SYM_VEC):
        if kind is Type.SYM_INT and position == 0 and node.type != "initializer_list":
            detail = f"the value decides how many elements {variable.name} has"
            yield Refuses(cause, node, SkipReason.CONTAINER_SIZE, detail)
        else:
            yield Stores(cause, variable, Type.SYM_VEC, node)
    elif kind is Type.SYM_ITER and variable.type in (Type.INT_REF, Type.SYM_REF) and position == 0:
        yield Stores(cause, variable, Type.SYM_REF, node)
    elif len(values) == 1 and variable.type in _TAKE_ONE:
        yield Stores(cause, variable, kind, node)
    elif variable.type not in SYMBOLIC_TYPES:
        detail = f"the value constructs {variable.name}, a {variable.type_text}"
        yield Refuses(cause, node, SkipReason.UNKNOWN_CALLEE, detail)


def _overwritten(p: Pass, variable: Variable) -> bool:
    """Return whether the next statement sets every element of a container, so that only its length is used."""
    # A variable of the same declaration, or a macro, may read it first.
    if p.model.siblings(variable) or p.model.tree.hidden_use(variable.name, variable.scope) is not None:
        return False
    behind = variable.declaration.next_named_sibling
    while behind is not None and behind.type == "comment":
        behind = behind.next_named_sibling
    call = behind.named_children[0] if behind is not None and behind.type == "expression_statement" else None
    if call is None or call.type != "call_expression" or p.types.callee(call) not in _OVERWRITE:
        return False
    span, value = arguments(call)[:2], arguments(call)[2:]
    if [p.model.tree.text(end) for end in span] != [f"{variable.name}.begin()", f"{variable.name}.end()"]:
        return False
    # The stored value may read the container.
    return not any(p.model.resolved[name] is variable for one in value for name in every(one, "identifier"))


def captured(p: Pass, node: Node, parent: Node, kind: Type, cause: Value) -> Iterator[Fact]:
    """Yield the fact for a symbolic value that a lambda captures under a new name."""
    left = parent.child_by_field_name("left")
    variable = None if left is None else p.model.resolved[left]
    if variable is not None:
        yield Becomes(cause, variable, kind)
