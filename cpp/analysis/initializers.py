"""A symbolic value starts a variable: by ``=``, in parentheses, as what reads like a parameter, or captured."""

from __future__ import annotations

from tree_sitter import Node

from ..syntax.declarations import Variable, vexing_arguments
from ..syntax.tree import arguments, field
from ..syntax.types import Type
from .calls import argument
from .flow import Entity, Flow
from .promote import SYMBOLIC_TYPES, promote, store


def initialized(p: Flow, node: Node, parent: Node, kind: Type, cause: Entity) -> None:
    """The value stands behind the ``=`` of a declaration, or in its braces."""
    variable = _declared(p, parent)
    if variable is None:
        p.conflict(cause, parent, "structured-binding", "the value is unpacked")
    elif node.type == "initializer_list" and (variable.type in (Type.INT, Type.LONG_LONG) or variable.how == "c-array"):
        promote(p, variable, Type.SYM_INT, cause)
    elif node.type == "initializer_list" and variable.type is not Type.INT_VEC:
        if variable.type is not Type.SYM_VEC:
            p.conflict(cause, parent, "declared-type", f"{variable.name} is declared {variable.type_text}")
    else:
        store(p, variable, kind, cause, node)


def _declared(p: Flow, declarator: Node) -> Variable | None:
    name = field(declarator, "declarator")
    while name is not None and name.type not in ("identifier", "structured_binding_declarator"):
        name = field(name, "declarator") or (name.named_children[-1] if name.named_children else None)
    return None if name is None or name.type != "identifier" else p.model.resolve(name)


def passed(p: Flow, node: Node, parent: Node, kind: Type, cause: Entity) -> None:
    """The value stands in the parentheses of a call or of a declaration."""
    around = parent.parent
    if around is None:
        return
    if around.type == "call_expression":
        argument(p, node, around, kind, cause)
    elif around.type == "init_declarator":
        variable = _declared(p, around)
        if variable is None:
            p.conflict(cause, around, "unsupported-syntax", "the value constructs something that has no name")
        else:
            constructed(p, variable, arguments(parent), node, kind, cause)
    else:
        p.conflict(cause, around, "unsupported-syntax", f"the value flows into a {around.type.replace('_', ' ')}")


def vexing(p: Flow, node: Node, parent: Node, kind: Type, cause: Entity) -> None:
    """The value stands in what the grammar reads as the parameters of a function."""
    listed = parent.parent
    declarator = None if listed is None else listed.parent
    name = None if declarator is None else field(declarator, "declarator")
    variable = None if name is None else p.model.resolve(name)
    if listed is None or variable is None or variable.how != "local":
        p.conflict(cause, parent, "unsupported-syntax", "the value stands where a type could")
    else:
        constructed(p, variable, vexing_arguments(listed), node, kind, cause)


def constructed(p: Flow, variable: Variable, values: list[Node], node: Node, kind: Type, cause: Entity) -> None:
    """A symbolic value is a constructor argument of a declared variable."""
    position = next((i for i, value in enumerate(values) if value.id == node.id), 0)
    if variable.type is Type.TENSORS:
        p.conflict(cause, node, "decides-arity", f"the value decides how many Tensors {variable.name} holds")
    elif variable.type in (Type.INT_VEC, Type.SYM_VEC) and kind is Type.SYM_INT:
        if position == 0 and node.type != "initializer_list":
            p.conflict(cause, node, "container-size", f"the value decides how many elements {variable.name} has")
        else:
            store(p, variable, Type.SYM_VEC, cause, node)
    elif variable.type in (Type.INT_VEC, Type.SYM_VEC):
        store(p, variable, Type.SYM_VEC, cause, node)
    elif kind is Type.SYM_ITER and variable.type in (Type.INT_REF, Type.SYM_REF) and position == 0:
        store(p, variable, Type.SYM_REF, cause, node)
    elif len(values) == 1 and variable.type in (
        Type.INT,
        Type.LONG_LONG,
        Type.INT_REF,
        Type.FLOAT,
        Type.AUTO,
        Type.SCALAR,
    ):
        store(p, variable, kind, cause, node)
    elif variable.type not in SYMBOLIC_TYPES:
        p.conflict(cause, node, "unknown-callee", f"the value constructs {variable.name}, a {variable.type_text}")


def captured(p: Flow, node: Node, parent: Node, kind: Type, cause: Entity) -> None:
    """A lambda keeps the value under a name of its own."""
    left = field(parent, "left")
    variable = None if left is None else p.model.resolve(left)
    if variable is not None:
        promote(p, variable, kind, cause)
