"""Arrays that must become symbolic because they meet a symbolic array: their origins are promoted."""

from __future__ import annotations

from collections.abc import Generator, Iterator

from tree_sitter import Node

from ...syntax.declarations import Variable
from ...syntax.tree import arguments
from ...syntax.types import INTEGERS, SYMBOLIC, SYMBOLIC_TYPES, Type, symbolic_text
from ..file.inference import TRANSPARENT, Inference
from ..file.methods import CONCRETE
from ..file.symbolic_types import twin_of
from ..graph.dataflow_facts import (
    Becomes,
    Constructs,
    Fact,
    Flows,
    Links,
    Refuses,
    Requires,
    Returns,
    Widens,
    Writes,
    wrapped,
)
from ..graph.graph import Form, Value
from ..graph.reasons import SkipReason
from .operator_arguments import header_result
from .pass_context import Pass
from .signatures import follows_schema, may_change
from .tuples import index_of, part_of

_LIST_METHODS = frozenset(
    {"vec", "slice", "drop_front", "drop_back", "begin", "end", "cbegin", "cend", "rbegin", "rend", "data"}
)
_ARRAYS = (Type.INT_REF, Type.INT_VEC)


def demand(p: Pass, required: Requires) -> Iterator[Fact]:
    """Promote the origin of an array, or refuse because the array stays concrete."""
    node, cause = required.node, required.cause
    if node.id in p.promoted:
        yield Flows(cause, node, p.promoted[node.id])
        return
    kind = p.types.type_of(node)
    if kind in SYMBOLIC_TYPES or kind in INTEGERS or node.type == "initializer_list":
        return
    found = yield from _origin(p, required, kind)
    if found:
        return
    if required.convert and kind in _ARRAYS:
        yield from wrapped(cause, node, "c10::fromIntArrayRefSlow(", ")")
    else:
        yield Refuses(cause, node, SkipReason.CONCRETE_OPERAND, f"{p.model.tree.text(node)} stays concrete")


def _origin(p: Pass, required: Requires, kind: Type) -> Generator[Fact, None, bool]:
    """Yield the promotions that make an expression symbolic. Return False if they are unknown."""
    node, cause = required.node, required.cause
    if node.type in ("identifier", "type_identifier"):
        variable = p.model.resolved[node]
        if variable is None or kind not in SYMBOLIC:
            return False
        if variable.how == "structured-binding" and len(variable.initializers) == 1:
            yield from _bound(p, variable, node, cause)
            return True
        fixed = variable.how == "parameter" and may_change(p, variable.function) is not None
        if fixed and required.convert and not follows_schema(p, variable):
            return False
        yield Becomes(cause, variable, SYMBOLIC[kind])
    elif node.type == "parenthesized_expression" and node.named_children:
        yield Requires(cause, node.named_children[0], required.convert)
    elif node.type == "conditional_expression":
        for branch in (node.child_by_field_name("consequence"), node.child_by_field_name("alternative")):
            if branch is not None:
                yield Requires(cause, branch)
    elif node.type == "binary_expression" and kind is Type.INT_ITER:
        container = iterated(p.types, node)
        if container is None:
            return False
        yield Requires(cause, container)
    elif node.type == "compound_literal_expression" and kind in SYMBOLIC:
        yield Constructs(cause, node, node.child_by_field_name("type"), kind)
    elif (opened := _opened(p, node)) is not None:
        yield Requires(cause, opened)
    elif node.type == "field_expression":
        field = p.types.field_of(node)
        if field is None or kind not in SYMBOLIC:
            return False
        yield Widens(cause, field, node)
    elif node.type == "call_expression":
        return (yield from _called(p, node, kind, cause))
    else:
        return False
    return True


def _opened(p: Pass, node: Node) -> Node | None:
    """Return the local optional that ``*o`` or ``o.value()`` unwraps, or None for anything else."""
    method = p.types.receiver(node) if node.type == "call_expression" else None
    if method is not None:
        held: Node | None = method[0] if method[1] == "value" else None
    else:
        held = node.child_by_field_name("argument") if node.type == "pointer_expression" else None
    variable = p.model.resolved[held] if held is not None and held.type == "identifier" else None
    if variable is None or variable.how != "local" or held is None:
        return None
    return held if p.types.type_of(held) is Type.OPTIONAL_INT_REF else None


def _bound(p: Pass, variable: Variable, node: Node, cause: Value) -> Iterator[Fact]:
    """Yield the promotion of the unpacked part for a structured binding's name that must be symbolic."""
    struct = p.types.struct_of(variable.initializers[0])
    if struct is not None and variable.position < len(struct.fields):
        yield Widens(cause, struct.fields[variable.position], node)
    else:
        yield from part_of(p, variable.initializers[0], variable.position, cause)


def _called(p: Pass, node: Node, kind: Type, cause: Value) -> Generator[Fact, None, bool]:
    seed, method = p.live.get(node.id), p.types.receiver(node)
    if seed is not None:
        yield Links(cause, seed.value)
        return True
    if method is not None:
        if method[1] not in _LIST_METHODS or p.types.type_of(method[0]) not in _ARRAYS:
            return False
        yield Requires(cause, method[0])
        return True
    name, handed, own = p.types.callee(node), arguments(node), p.types.own_functions(node)
    got = index_of(p, node)
    if got is not None and handed:
        yield from part_of(p, handed[0], got, cause)
        return True
    if name in TRANSPARENT and handed:
        yield Requires(cause, handed[0])
        return True
    if len(own) == 1 and kind in SYMBOLIC:
        yield Returns(cause, own[0], SYMBOLIC[kind], node)
        return True
    helped = None if own else header_result(p, node, SYMBOLIC.get(kind, kind), cause)
    if helped is not None:
        yield from helped
        return True
    function = node.child_by_field_name("function")
    if own or kind not in _ARRAYS or name in CONCRETE or function is None:
        return False
    if symbolic_text(p.model.tree.text(function), kind) is None:
        return False
    yield Constructs(cause, node, function, kind)
    for value in handed:
        if p.kind_of(value) in (*_ARRAYS, Type.INT_ITER):
            yield Requires(cause, value)
    return True


def construct(p: Pass, made: Constructs) -> Iterator[Fact]:
    """Replace the type of a constructed container or array with its symbolic type, and propagate the result."""
    text = None if made.type_node is None else twin_of(p.model, made.type_node, made.kind)
    if made.type_node is None or text is None:
        detail = "the constructed type has no symbolic twin"
        yield Refuses(made.cause, made.node, SkipReason.DECLARED_TYPE, detail)
        return
    value = Value(Form.CALL, made.node.id)
    yield Links(made.cause, value)
    yield Writes(value, made.type_node, text)
    yield Flows(value, made.node, SYMBOLIC[made.kind])


def iterated(types: Inference, node: Node) -> Node | None:
    """Return the container that an iterator expression such as ``v.begin() + n`` iterates over."""
    if node.type == "binary_expression":
        sides = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        node = next((side for side in sides if side is not None and types.type_of(side) is Type.INT_ITER), node)
    method = types.receiver(node) if node.type == "call_expression" else None
    return None if method is None else method[0]
