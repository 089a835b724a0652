"""Symbolic values that an autograd function saves: stored in one method, read in another.

An IValue made from SymInts that hold plain integers is one of plain integers, so a store is unchanged on concrete
sizes. Its readers must change nevertheless: ``toIntVector()`` of a symbolic list raises.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from ...syntax.declarations import Function
from ...syntax.model import Model
from ...syntax.tree import ancestors
from ...syntax.types import Type
from ..file.saved_data_syntax import slot
from ..graph.dataflow_facts import Fact, Flows, Keeps, Later, Links, Refuses, Writes
from ..graph.graph import Form, Value
from ..graph.reasons import SkipReason
from .pass_context import Pass

_TWINS = {"toInt": ("toSymInt", Type.SYM_INT), "toIntVector": ("toSymIntVector", Type.SYM_VEC)}
_SYMBOLIC = frozenset({"toSymInt", "toSymIntVector", "toSymIntList"})


def keep(p: Pass, kept: Keeps) -> Iterator[Fact]:
    """Promote every reader of the key under which a symbolic value is stored, or refuse if a reader is unknown."""
    target, key = kept.node, kept.key
    if kept.kind not in (Type.SYM_INT, Type.SYM_REF, Type.SYM_VEC):
        detail = f"nothing says that saved_data keeps a {kept.kind.value}"
        yield Refuses(kept.cause, target, SkipReason.SAVED_DATA, detail)
        return
    methods = _methods(p.model, target)
    owner = "" if not methods else _class_of(p.model, methods[0])
    value = Value(Form.SAVED, (owner, key))
    yield Links(kept.cause, value, f"saved_data[{key}]")
    if not any(one.name == "backward" for one in methods):
        detail = f"the backward that reads {key} is not in this file"
        yield Refuses(value, target, SkipReason.SAVED_DATA, detail)
        return
    for method in methods:
        if p.model.tree.hidden_use("saved_data", method.node) is not None:
            detail = f"{method.name} reads saved_data where the code can't be read"
            yield Refuses(value, target, SkipReason.SAVED_DATA, detail)
        for parameter in method.parameters:
            if "AutogradContext" in parameter.type_text:
                yield from _follow_context(p, parameter.name, list(p.model.references(parameter)), key, value)


def _follow_context(p: Pass, name: str, uses: list[Node], key: str, value: Value) -> Iterator[Fact]:
    for use in uses:
        member = use.parent
        named = None if member is None or member.type != "field_expression" else member.child_by_field_name("field")
        if member is None or named is None:
            detail = f"{name} is handed on, and {key} may be read there"
            yield Refuses(value, use, SkipReason.SAVED_DATA, detail)
        elif p.model.tree.text(named) == "saved_data":
            place = member.parent
            written = None if place is None else slot(p.model, place)
            if place is None or written is None:
                detail = f"saved_data is asked by a name that is no literal, maybe {key}"
                yield Refuses(value, member, SkipReason.SAVED_DATA, detail)
            elif written == key:
                yield from _follow(p, place, value)


def _follow(p: Pass, place: Node, value: Value) -> Iterator[Fact]:
    """Yield the facts for one use of a key. A store is unchanged, and a reader becomes its symbolic version."""
    around = place.parent
    left = None if around is None or around.type != "assignment_expression" else around.child_by_field_name("left")
    if left is not None and left.id == place.id:
        return
    call = None if around is None or around.type != "field_expression" else around.parent
    name = (
        None
        if around is None or call is None or call.type != "call_expression"
        else around.child_by_field_name("field")
    )
    reader = "" if name is None else p.model.tree.text(name)
    if reader in _SYMBOLIC:
        return
    twin = _TWINS.get(reader)
    if twin is None or name is None or call is None:
        detail = "it is read in a way that has no symbolic twin"
        yield Refuses(value, around or place, SkipReason.SAVED_DATA, detail)
    elif not p.know.eligibility.is_eligible(p.model.function_at(call.start_byte)):
        yield Refuses(value, call, SkipReason.SAVED_DATA, "it is read where no symbolic size is seen")
    else:
        yield Writes(value, name, twin[0])
        yield Later(Flows(value, call, twin[1]))


def _methods(model: Model, node: Node) -> list[Function]:
    """Return the methods of the class whose method contains a node."""
    inside = model.function_at(node.start_byte)
    owner = None if inside is None else _class_of(model, inside)
    return [one for one in model.functions if one.in_class and _class_of(model, one) == owner] if owner else []


def _class_of(model: Model, function: Function) -> str:
    """Return the name of the class that a method belongs to, whether it is defined inside or outside of the class."""
    declarator = function.node.child_by_field_name("declarator")
    while declarator is not None and declarator.type != "qualified_identifier":
        declarator = declarator.child_by_field_name("declarator")
    scope = None if declarator is None else declarator.child_by_field_name("scope")
    if scope is not None:
        return model.tree.text(scope)
    for around in ancestors(function.node):
        if around.type in ("class_specifier", "struct_specifier"):
            name = around.child_by_field_name("name")
            return "" if name is None else model.tree.text(name)
    return ""
