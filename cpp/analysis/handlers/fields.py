"""Struct members that become symbolic: their declarations, uses and initial values."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from ...syntax.structs import Field, Struct, bare_type
from ...syntax.tree import arguments, every
from ...syntax.types import LISTS, SYMBOLIC, SYMBOLIC_TYPES, Type, fits
from ..file.inference import Inference
from ..file.symbolic_types import twin_of
from ..graph.dataflow_facts import Divides, Fact, Flows, Later, Links, Refuses, Requires, Widens, Writes
from ..graph.graph import Form, Value
from ..graph.reasons import SkipReason
from .pass_context import Pass
from .signatures import HEADERS, may_change
from .tuples import unpack

_OUT_OF_SIGHT = (
    "template_argument_list", "alias_declaration", "type_definition", "qualified_identifier", "sizeof_expression",
    "array_declarator", "base_class_clause",
)  # fmt: skip
"""Nodes that name a struct where its members may be accessed without their names: by alias, by element or by
address."""


def widen(p: Pass, fact: Widens) -> Iterator[Fact]:
    """Change a member to its symbolic type, and yield facts for each place that names or initializes it."""
    field = fact.field
    value, kind = Value(Form.FIELD, field.node.id), SYMBOLIC[field.type]
    refusal = _fixed(p, field)
    if refusal is not None:
        yield Refuses(value, fact.node, *refusal)
        return
    yield from _declared(p, field, value)
    for node in p.model.members.get(field.name, ()):
        yield from _used(p, field, node, kind, value)
    for listed in every(p.model.tree.root, "initializer_list"):
        yield from _filled(p, field, listed, kind, value)
    for binding in every(p.model.tree.root, "structured_binding_declarator"):
        yield from _unpacked(p, field, binding, kind, value)


def _fixed(p: Pass, field: Field) -> tuple[SkipReason, str] | None:
    """Return the reason why a member can't change its type, or None if it can."""
    if p.know.path.suffix in HEADERS:
        return SkipReason.EXTERNAL_LINKAGE, f"{field.owner} can be used by other files"
    hidden = p.model.tree.hidden_use(field.name, p.model.tree.root)
    if hidden is not None:
        return SkipReason(hidden), f"{field.name} is named where the code can't be read with certainty"
    for function in p.model.functions:
        written = [parameter.type_text for parameter in function.parameters]
        if function.returns_node is not None:
            written.append(p.model.tree.text(function.returns_node))
        refusal = may_change(p, function) if any(bare_type(text) == field.owner for text in written) else None
        if refusal is not None and refusal[0] is SkipReason.EXTERNAL_LINKAGE:
            return refusal
    for node in every(p.model.tree.root, *_OUT_OF_SIGHT):
        if re.search(rf"\b{field.owner}\b", p.model.tree.text(_naming(node))):
            return SkipReason.STRUCT_FIELD, f"{field.owner} is used where its members have no names"
    return None


def _naming(node: Node) -> Node:
    """Return the part of a node that may name a struct."""
    if node.type == "qualified_identifier":
        return node.child_by_field_name("scope") or node
    holder = node
    while holder.type.endswith("declarator") and holder.parent is not None:
        holder = holder.parent
    return holder.child_by_field_name("type") or node


def _declared(p: Pass, field: Field, value: Value) -> Iterator[Fact]:
    if len(field.declaration.children_by_field_name("declarator")) > 1:
        yield Divides(value, field)
        return
    text = twin_of(p.model, field.type_node, field.type)
    if text is None:
        detail = f"the type of {field.name} has no symbolic twin"
        yield Refuses(value, field.node, SkipReason.DECLARED_TYPE, detail)
    else:
        yield Writes(value, field.type_node, text)


def divide(p: Pass, fact: Divides) -> Iterator[Fact]:
    """Yield the edits that split ``DimVector shape, dim;`` into two declarations if one member is unchanged."""
    field, value = fact.field, fact.cause
    declaration, tree = field.declaration, p.model.tree
    declarators = declaration.children_by_field_name("declarator")
    names = [name for one in declarators for name in every(one, "field_identifier")]
    text = twin_of(p.model, field.type_node, field.type)
    promoted = [name for name in names if name.id in p.promoted]
    ends = (declarators[0], declarators[-1])
    if text is None or any(child.type == "type_qualifier" for child in declaration.children):
        detail = f"the type of {field.name} has no symbolic twin"
        yield Refuses(value, field.node, SkipReason.DECLARED_TYPE, detail)
    elif len(promoted) == len(names) == len(declarators):
        yield Writes(value, field.type_node, text)
        for name in promoted:
            yield Links(value, Value(Form.FIELD, name.id))
    elif len(promoted) > 1 or field.node.id not in (ends[0].id, ends[1].id):
        detail = f"{field.name} is declared together with members that stay as they are"
        yield Refuses(value, field.node, SkipReason.DECLARED_TYPE, detail)
    else:
        line = tree.content.rfind(b"\n", 0, declaration.start_byte) + 1
        indent = tree.content[line : declaration.start_byte].decode()
        lead = f";\n{indent if not indent.strip() else ' '}"
        if field.node.id == ends[0].id:
            start = declaration.start_byte
            yield Writes(value, field.node, f"{text} {field.name}{lead}", (start, start))
            yield Writes(value, field.node, "", (ends[0].start_byte, declarators[1].start_byte))
        else:
            yield Writes(value, field.node, f"{lead}{text} ", (declarators[-2].end_byte, ends[1].start_byte))


def _used(p: Pass, field: Field, node: Node, kind: Type, value: Value) -> Iterator[Fact]:
    holder = node.child_by_field_name("argument")
    struct = None if holder is None else p.types.struct_of(holder)
    if struct is not None and struct.name != field.owner:
        return
    if struct is None:
        if holder is None or p.types.type_of(holder) is Type.UNKNOWN:
            detail = f"{p.model.tree.text(node)} may be a member of {field.owner}"
            yield Refuses(value, node, SkipReason.STRUCT_FIELD, detail)
        return
    if not p.know.eligibility.is_eligible(p.model.function_at(node.start_byte)):
        detail = f"{field.owner}::{field.name} is used in kernel code too"
        yield Refuses(value, node, SkipReason.SHARED_WITH_KERNEL, detail)
        return
    yield Later(Flows(value, node, kind))


def _filled(p: Pass, field: Field, listed: Node, kind: Type, value: Value) -> Iterator[Fact]:
    """Yield the requirement on the member's element in a braced list that constructs the struct."""
    if struct_made(p.types, listed) is not p.model.structs[field.owner]:
        return
    elements = arguments(listed)
    if any(element.type == "initializer_pair" for element in elements):
        detail = f"a {field.owner} is made with its members named"
        yield Refuses(value, listed, SkipReason.STRUCT_FIELD, detail)
    elif field.position < len(elements) and kind in LISTS:
        yield Later(Requires(value, elements[field.position]))


def fill(p: Pass, struct: Struct, node: Node, listed: Node, kind: Type, cause: Value) -> Fact | None:
    """Return the fact for a symbolic value in a braced list that constructs a struct: its member holds the value."""
    position = next((i for i, element in enumerate(arguments(listed)) if element.id == node.id), len(struct.fields))
    field = struct.fields[position] if position < len(struct.fields) else None
    if field is None or not fits(kind, SYMBOLIC.get(field.type, field.type)):
        detail = f"nothing says which member of {struct.name} holds the value"
        return Refuses(cause, listed, SkipReason.STRUCT_FIELD, detail)
    return None if field.type in SYMBOLIC_TYPES else Widens(cause, field, node)


def struct_made(types: Inference, listed: Node) -> Struct | None:
    """Return the plain struct that a braced list constructs, or None for anything else."""
    around, model = listed.parent, types.model
    if around is None:
        return None
    if around.type == "compound_literal_expression":
        return types.struct_of(around)
    if around.type == "return_statement":
        function = model.innermost(around)
        return None if function is None else types.struct_returned(function)
    if around.type == "assignment_expression":
        left = around.child_by_field_name("left")
        return None if left is None else types.struct_of(left)
    if around.type == "init_declarator":
        name = around.child_by_field_name("declarator")
        return None if name is None or name.type != "identifier" else types.struct_of(name)
    call = around.parent if around.type == "argument_list" else None
    if call is None or call.type != "call_expression":
        return None
    position = next((i for i, value in enumerate(arguments(around)) if value.id == listed.id), 0)
    owns = [own for own in types.own_functions(call) if position < len(own.parameters)]
    taken = {bare_type(own.parameters[position].type_text) for own in owns}
    return model.structs.get(taken.pop()) if len(taken) == 1 else None


def _unpacked(p: Pass, field: Field, binding: Node, kind: Type, value: Value) -> Iterator[Fact]:
    names = [child for child in binding.named_children if child.type == "identifier"]
    variables = [p.model.resolved[name] for name in names]
    first = variables[0] if variables else None
    if first is None or len(variables) != len(p.model.structs[field.owner].fields):
        return
    made = first.initializers[0] if len(first.initializers) == 1 else None
    struct = None if made is None else p.types.struct_of(made)
    bound = variables[field.position]
    if struct is not None and struct.name == field.owner and bound is not None:
        yield from unpack(p, bound, kind, value)
    elif struct is None and (made is None or not p.types.returned(made)):
        detail = f"a {field.owner} may be unpacked there"
        yield Refuses(value, binding, SkipReason.STRUCT_FIELD, detail)
