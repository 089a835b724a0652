"""Handlers of the syntactic parents of a symbolic value, one for each parent type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from tree_sitter import Node

from ...syntax.types import INTEGERS, LISTS, SYMBOLIC_TYPES, Type, is_wide
from ..graph.dataflow_facts import Constructs, Fact, Flows, Matches, Refuses, Requires, Returns, Stores, Writes
from ..graph.graph import Value
from ..graph.reasons import SkipReason
from .assignments import assignment, update
from .calls import list_method
from .conditions import truth
from .fields import fill, struct_made
from .initializers import captured, initialized, passed, vexing
from .operations import binary, unary
from .pass_context import Pass
from .tuples import returned_part

_VALUE_OF_A_BLOCK = "parenthesized_expression"
_BRACED = ("compound_literal_expression", "argument_list")
"""Parents in which ``{{a, b}}`` makes one array, as for a std::array."""


def dispatch_parent(p: Pass, node: Node, kind: Type, cause: Value) -> Iterable[Fact]:
    """Return the facts for a value that is now symbolic, by its syntactic parent."""
    parent = node.parent
    if parent is None or _is_dropped(node):
        return ()
    handler = _HANDLERS.get(parent.type)
    if handler is None:
        words = parent.type.replace("_", " ")
        return (Refuses(cause, parent, SkipReason.UNSUPPORTED_SYNTAX, f"the value flows into a {words}"),)
    return handler(p, node, parent, kind, cause)


def _is_dropped(node: Node) -> bool:
    """Return whether the value of an expression is unused."""
    around = node.parent
    if around is None or around.type == "lambda_capture_specifier":
        return True
    if around.type == "comma_expression":
        return _is_field(around, "left", node) or _is_dropped(around)
    if around.type == "for_statement":
        return not _is_field(around, "condition", node)
    if around.type != "expression_statement":
        return False
    block = around.parent
    is_last = block is not None and bool(block.named_children) and block.named_children[-1].id == around.id
    return not (is_last and block is not None and block.parent is not None and block.parent.type == _VALUE_OF_A_BLOCK)


def _same(p: Pass, node: Node, parent: Node, kind: Type, cause: Value) -> tuple[Fact, ...]:
    return (Flows(cause, parent, kind),)


def _condition(p: Pass, node: Node, parent: Node, kind: Type, cause: Value) -> Iterable[Fact]:
    around = parent.parent
    if around is not None and around.type == "switch_statement":
        return (Refuses(cause, node, SkipReason.SWITCH),)
    return truth(node, kind, cause)


def _assignment(p: Pass, node: Node, parent: Node, kind: Type, cause: Value) -> Iterator[Fact]:
    return assignment(p, node, parent, kind, cause, used=not _is_dropped(parent))


def _braces(p: Pass, node: Node, parent: Node, kind: Type, cause: Value) -> tuple[Fact, ...]:
    around = parent.parent
    struct = struct_made(p.types, parent) if p.model.structs else None
    if struct is not None:
        fact = fill(p, struct, node, parent, kind, cause)
        return () if fact is None else (fact,)
    if around is not None and around.type == "return_statement":
        part = returned_part(p, node, parent, kind, cause)
        if part is not None:
            return (part,)
    nested = node.type == "initializer_list"
    starts = around is not None and (around.type == "init_declarator" or (nested and around.type in _BRACED))
    if kind in LISTS and parent.named_child_count == 1 and starts:
        kind = Type.SYM_INT if nested else kind
    elif kind is not Type.SYM_INT:
        detail = "an array stands among the elements of a list"
        return (Refuses(cause, parent, SkipReason.UNSUPPORTED_SYNTAX, detail),)
    if around is None or around.type != "compound_literal_expression":
        return (Flows(cause, parent, Type.SYM_VEC),)
    held = p.types.type_of(around)
    type_node = around.child_by_field_name("type")
    written = None if type_node is None else p.types.named_type(type_node)
    if written in (Type.INT_REF, Type.INT_VEC):
        return (Constructs(cause, around, type_node, written),)
    if held in SYMBOLIC_TYPES or written in SYMBOLIC_TYPES:
        return ()
    detail = "the value constructs an object of an unknown type"
    return (Refuses(cause, around, SkipReason.UNKNOWN_CALLEE, detail),)


def _return(p: Pass, node: Node, parent: Node, kind: Type, cause: Value) -> Iterator[Fact]:
    function = p.model.innermost(parent)
    if function is not None:
        yield Returns(cause, function, kind, node)


def _conditional(p: Pass, node: Node, parent: Node, kind: Type, cause: Value) -> Iterator[Fact]:
    consequence, alternative = parent.child_by_field_name("consequence"), parent.child_by_field_name("alternative")
    if _is_field(parent, "condition", node):
        if consequence is None:
            detail = "the value is tested for truth and used in one"
            yield Refuses(cause, parent, SkipReason.NO_SYMINT_OPERATOR, detail)
        else:
            yield from truth(node, kind, cause)
        return
    other = alternative if consequence is not None and consequence.id == node.id else consequence
    if other is None:
        return
    theirs = p.kind_of(other)
    if kind in LISTS:
        yield Requires(cause, other)
    elif kind is Type.SYM_INT and theirs in INTEGERS | {Type.LONG_LONG}:
        yield Matches(cause, other, INTEGERS | {Type.LONG_LONG}, SkipReason.MIXED_CONDITIONAL)
    elif not (kind is Type.SYM_FLOAT and theirs is Type.SYM_FLOAT):
        yield Refuses(cause, parent, SkipReason.MIXED_CONDITIONAL, f"the other branch is of type {theirs.value}")
        return
    yield Flows(cause, parent, kind)


def _subscript(p: Pass, node: Node, parent: Node, kind: Type, cause: Value) -> Iterator[Fact]:
    if _is_field(parent, "argument", node) and kind in LISTS | {Type.SYM_ITER}:
        yield Flows(cause, parent, Type.SYM_INT)
    else:
        yield Refuses(cause, parent, SkipReason.ARRAY_INDEX)


def _index(p: Pass, node: Node, parent: Node, kind: Type, cause: Value) -> Iterator[Fact]:
    yield Refuses(cause, parent, SkipReason.ARRAY_INDEX)


def _member(p: Pass, node: Node, parent: Node, kind: Type, cause: Value) -> Iterable[Fact]:
    call = parent.parent
    name, operator = parent.child_by_field_name("field"), parent.child_by_field_name("operator")
    if kind is Type.OPTIONAL_SYM_REF and operator is not None and operator.type == "->":
        kind = Type.SYM_REF
    if name is None or call is None or call.type != "call_expression" or not _is_field(call, "function", parent):
        return (Refuses(cause, parent, SkipReason.UNSUPPORTED_SYNTAX, "a member of the value is named without a call"),)
    return list_method(p, call, p.model.tree.text(name), kind, cause)


def _range_for(p: Pass, node: Node, parent: Node, kind: Type, cause: Value) -> Iterator[Fact]:
    name = parent.child_by_field_name("declarator")
    while name is not None and name.type == "reference_declarator":
        name = name.named_children[-1] if name.named_children else None
    variable = None if name is None or name.type != "identifier" else p.model.resolved[name]
    if kind not in LISTS or variable is None:
        yield Refuses(cause, parent, SkipReason.LOOP_BOUND, "a loop runs over the value")
    elif variable.type not in SYMBOLIC_TYPES:
        yield Stores(cause, variable, Type.SYM_INT, node)


def _cast(p: Pass, node: Node, parent: Node, kind: Type, cause: Value) -> Iterator[Fact]:
    target = p.types.type_of(parent)
    written = parent.child_by_field_name("type")
    wide = written is not None and is_wide(p.model.tree.text(written))
    if kind is Type.SYM_INT and target in (Type.INT, Type.LONG_LONG) and wide:
        yield Writes(cause, parent, "", (parent.start_byte, node.start_byte))
        yield Flows(cause, parent, kind)
    elif kind is Type.SYM_INT and target is Type.FLOAT:
        yield Writes(cause, parent, "c10::SymFloat(", (parent.start_byte, node.start_byte))
        yield Writes(cause, node, ")", (node.end_byte, node.end_byte))
        yield Flows(cause, parent, Type.SYM_FLOAT)
    else:
        words = p.model.tree.text(parent).split(")")[0]
        yield Refuses(cause, parent, SkipReason.CAST, f"the value is cast by {words})")


def _loop(p: Pass, node: Node, parent: Node, kind: Type, cause: Value) -> Iterator[Fact]:
    yield Refuses(cause, node, SkipReason.LOOP_BOUND)


def _template(p: Pass, node: Node, parent: Node, kind: Type, cause: Value) -> Iterator[Fact]:
    yield Refuses(cause, parent, SkipReason.TEMPLATE_ARGUMENT)


def _is_field(parent: Node, name: str, node: Node) -> bool:
    held = parent.child_by_field_name(name)
    return held is not None and held.id == node.id


_HANDLERS: dict[str, Callable[[Pass, Node, Node, Type, Value], Iterable[Fact]]] = {
    "parenthesized_expression": _same,
    "condition_clause": _condition,
    "binary_expression": binary,
    "unary_expression": unary,
    "pointer_expression": unary,
    "update_expression": update,
    "assignment_expression": _assignment,
    "comma_expression": _same,
    "init_declarator": initialized,
    "argument_list": passed,
    "parameter_declaration": vexing,
    "initializer_list": _braces,
    "return_statement": _return,
    "conditional_expression": _conditional,
    "subscript_expression": _subscript,
    "subscript_argument_list": _index,
    "field_expression": _member,
    "for_range_loop": _range_for,
    "lambda_capture_initializer": captured,
    "cast_expression": _cast,
    "for_statement": _loop,
    "while_statement": _loop,
    "do_statement": _loop,
    "template_argument_list": _template,
    "switch_statement": _condition,
}
