"""What stands around a value decides what happens when the value becomes symbolic: one handler a syntactic parent."""

from __future__ import annotations

from collections.abc import Callable

from tree_sitter import Node

from ..syntax.tree import arguments, field, walk
from ..syntax.types import HELD, Type, is_wide
from .calls import list_method
from .conditions import SIMPLE, bound, loop_of, truth
from .flow import Entity, Flow
from .initializers import captured, initialized, passed, vexing
from .promote import INTEGERS, LISTS, SYMBOLIC_TYPES, construct, demand, promote_result, put, store

_ARITHMETIC = frozenset({"+", "-", "*", "/", "%"})
_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
_VALUE_OF_A_BLOCK = "parenthesized_expression"
_EFFECTS = frozenset({"call_expression", "update_expression", "assignment_expression"})


def arrive(p: Flow, node: Node, kind: Type, cause: Entity) -> None:
    """Carry a value that is now symbolic into its surroundings."""
    parent = node.parent
    if parent is None:
        return
    if _is_dropped(node):
        return
    handler = _HANDLERS.get(parent.type)
    if handler is None:
        words = parent.type.replace("_", " ")
        p.conflict(cause, parent, "unsupported-syntax", f"the value flows into a {words}")
    else:
        handler(p, node, parent, kind, cause)


def _is_dropped(node: Node) -> bool:
    """Whether nothing uses the value of an expression."""
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


def _parenthesized(p: Flow, node: Node, parent: Node, kind: Type, cause: Entity) -> None:
    p.flow(parent, kind, cause)


def _condition(p: Flow, node: Node, parent: Node, kind: Type, cause: Entity) -> None:
    around = parent.parent
    if around is not None and around.type == "switch_statement":
        p.conflict(cause, node, "switch", "the value selects a case")
    else:
        truth(p, node, kind, cause)


def _binary(p: Flow, node: Node, parent: Node, kind: Type, cause: Entity) -> None:
    left, right, sign = field(parent, "left"), field(parent, "right"), field(parent, "operator")
    if left is None or right is None or sign is None:
        return
    operator = p.model.tree.text(sign)
    other = right if left.id == node.id else left
    theirs = p.kind_of(other)
    written = operator == "<<" and _is_stream(p, left)
    as_scalar = theirs is Type.TENSOR and kind in (Type.SYM_INT, Type.SYM_FLOAT)
    if written or (as_scalar and operator in _ARITHMETIC | _COMPARISONS):
        return
    if operator in ("&&", "||"):
        truth(p, node, kind, cause)
    elif operator in _COMPARISONS:
        _comparison(p, node, parent, other, kind, cause)
    elif operator not in _ARITHMETIC:
        p.conflict(cause, parent, "no-symint-operator", f"SymInt has no operator {operator}")
    elif kind is Type.SYM_ITER and theirs in INTEGERS and operator in ("+", "-"):
        p.flow(parent, kind, cause)
    elif kind is Type.SYM_INT and _wraps(p, left, right, operator):
        p.conflict(cause, parent, "unsigned-arithmetic", f"an unsigned {operator} wraps where a SymInt is below 0")
    elif kind is Type.SYM_INT and theirs in INTEGERS:
        p.flow(parent, Type.SYM_INT, cause)
    elif {kind, theirs} <= INTEGERS | {Type.FLOAT, Type.SYM_FLOAT} and operator != "%":
        if (
            kind is Type.SYM_FLOAT
            and theirs is not Type.SYM_INT
            and other.id == left.id
            and theirs is not Type.SYM_FLOAT
        ):
            p.wrap(cause, other, "c10::SymFloat(", ")")
        p.flow(parent, Type.SYM_FLOAT, cause)
    else:
        text = p.model.tree.text(other)
        p.conflict(cause, parent, "unknown-operand", f"the value meets {text}, whose type is {theirs.value}")


def _wraps(p: Flow, left: Node, right: Node, operator: str) -> bool:
    """Whether the file computes this without a sign, and gets what a SymInt does not: by itself, or from below 0."""
    if Type.UNSIGNED not in (p.types.type_of(left), p.types.type_of(right)) or operator in ("+", "*", "==", "!="):
        return False
    return operator == "-" or not (_counts(p, left) and _counts(p, right))


def _counts(p: Flow, node: Node) -> bool:
    """Whether a value is made from sizes and literals in a way that never goes below 0."""
    if node.type == "parenthesized_expression" and node.named_children:
        return _counts(p, node.named_children[-1])
    sign, left, right = field(node, "operator"), field(node, "left"), field(node, "right")
    if node.type == "binary_expression" and sign is not None and left is not None and right is not None:
        return p.model.tree.text(sign) in ("+", "*", "/", "%") and _counts(p, left) and _counts(p, right)
    return node.type in ("call_expression", "number_literal") or p.types.type_of(node) is Type.UNSIGNED


def _is_stream(p: Flow, left: Node) -> bool:
    """Whether a chain of ``<<`` writes: it starts with a stream or with a macro given one, or it writes a text."""
    while left.type == "binary_expression" and left.named_child_count == 2:
        if left.named_children[1].type in ("string_literal", "concatenated_string"):
            return True
        left = left.named_children[0]
    handed = arguments(left) if left.type == "call_expression" else []
    return any(p.types.type_of(node) is Type.STREAM for node in (left, *handed))


def _comparison(p: Flow, node: Node, parent: Node, other: Node, kind: Type, cause: Entity) -> None:
    sign = field(parent, "operator")
    if sign is None:
        return
    theirs = p.kind_of(other)
    if loop_of(parent) is not None:
        if kind is not Type.SYM_ITER:
            bound(p, parent, cause)
        else:
            demand(p, other, cause)
    elif kind in LISTS | {Type.SYM_ITER}:
        demand(p, other, cause)
    elif _wraps(p, node, other, p.model.tree.text(sign)):
        p.conflict(cause, parent, "unsigned-arithmetic", "an unsigned comparison wraps where a SymInt is below 0")
    elif theirs not in INTEGERS | {Type.FLOAT, Type.SYM_FLOAT} or (
        kind is Type.SYM_FLOAT and _is_field(parent, "left", other)
    ):
        text = p.model.tree.text(other)
        p.conflict(cause, parent, "unknown-operand", f"the value is compared with {text}, whose type is {theirs.value}")


def _unary(p: Flow, node: Node, parent: Node, kind: Type, cause: Entity) -> None:
    operator = p.model.tree.text(parent.children[0])
    if operator == "-" and kind is Type.SYM_INT and p.types.type_of(node) is Type.UNSIGNED:
        p.conflict(cause, parent, "unsigned-arithmetic", "an unsigned - wraps where a SymInt is below 0")
    elif operator == "-" and kind is Type.SYM_INT:
        p.flow(parent, kind, cause)
    elif operator == "!" and kind is Type.SYM_INT and node.type in SIMPLE and loop_of(parent) is None:
        p.splice(cause, parent, parent.start_byte, node.start_byte, "")
        p.splice(cause, node, node.end_byte, node.end_byte, " == 0")
        around = parent.parent
        sign = None if around is None else field(around, "operator")
        if sign is not None and p.model.tree.text(sign) not in ("&&", "||"):
            p.conflict(cause, parent, "no-symint-operator", "the negated value is compared in turn")
    elif operator == "*" and (kind is Type.SYM_ITER or kind in HELD):
        p.flow(parent, HELD.get(kind, Type.SYM_INT), cause)
    elif operator == "!" and kind in HELD:
        return
    else:
        p.conflict(cause, parent, "no-symint-operator", f"{kind.value} has no unary operator {operator}")


def _update(p: Flow, node: Node, parent: Node, kind: Type, cause: Entity) -> None:
    around = parent.parent
    operator = p.model.tree.text(parent).replace(p.model.tree.text(node), "").strip()
    if kind is Type.SYM_ITER:
        p.flow(parent, kind, cause)
    elif kind is not Type.SYM_INT or around is None or around.type != "expression_statement" or operator != "++":
        p.conflict(cause, parent, "no-symint-operator", f"SymInt has no operator {operator}")
    else:
        p.edit(cause, parent, f"{p.model.tree.text(node)} += 1")


def _assignment(p: Flow, node: Node, parent: Node, kind: Type, cause: Entity) -> None:
    left, right, sign = field(parent, "left"), field(parent, "right"), field(parent, "operator")
    if left is None or right is None or sign is None:
        return
    operator = p.model.tree.text(sign)
    if node.id == right.id:
        put(p, left, kind, cause)
        if not _is_dropped(parent):
            _yielded(p, parent, operator, kind, cause)
        return
    if not _is_dropped(parent):
        _yielded(p, parent, operator, kind, cause)
    if operator == "=" and kind in LISTS:
        demand(p, right, cause)
    elif kind in LISTS | {Type.SYM_ITER}:
        p.conflict(cause, parent, "no-symint-operator", f"the array is changed by {operator}")
    elif operator == "=" and p.kind_of(right) is Type.LONG_LONG:
        return  # a SymInt can be assigned any integer; only its operators are ambiguous for long long
    elif p.kind_of(right) not in INTEGERS | ({Type.FLOAT, Type.SYM_FLOAT} if kind is Type.SYM_FLOAT else set()):
        p.conflict(cause, right, "mixed-assignment", f"{p.model.tree.text(right)} is of type {p.kind_of(right).value}")
    elif kind is Type.SYM_FLOAT and operator != "=":
        p.conflict(cause, parent, "no-symint-operator", f"SymFloat has no operator {operator}")
    elif operator in ("-=", "%=") and any(inner.type in _EFFECTS for inner in walk(left)):
        p.conflict(
            cause,
            parent,
            "no-symint-operator",
            f"SymInt has no operator {operator}, and the target can't be named twice",
        )
    elif operator in ("-=", "%="):
        p.splice(cause, parent, sign.start_byte, sign.end_byte, f"= {p.model.tree.text(left)} {operator[0]}")
        if right.type not in SIMPLE:
            p.wrap(cause, right, "(", ")")
    elif operator not in ("=", "+=", "*=", "/="):
        p.conflict(cause, parent, "no-symint-operator", f"SymInt has no operator {operator}")


def _yielded(p: Flow, assignment: Node, operator: str, kind: Type, cause: Entity) -> None:
    """The value of an assignment is used in turn."""
    if operator in ("=", "-=", "%="):
        p.flow(assignment, kind, cause)
    else:
        p.conflict(cause, assignment, "no-symint-operator", f"SymInt's {operator} has no value")


def _braces(p: Flow, node: Node, parent: Node, kind: Type, cause: Entity) -> None:
    around = parent.parent
    if kind is not Type.SYM_INT:
        p.conflict(cause, parent, "unsupported-syntax", "an array stands among the elements of a list")
    elif around is not None and around.type == "compound_literal_expression":
        held = p.types.type_of(around)
        type_node = field(around, "type")
        from_text = None if type_node is None else p.types.named_type(type_node)
        if from_text in (Type.INT_REF, Type.INT_VEC):
            construct(p, around, type_node, from_text, cause)
        elif held not in SYMBOLIC_TYPES and from_text not in SYMBOLIC_TYPES:
            p.conflict(cause, around, "unknown-callee", "the value constructs an object of an unknown type")
    else:
        p.flow(parent, Type.SYM_VEC, cause)


def _return(p: Flow, node: Node, parent: Node, kind: Type, cause: Entity) -> None:
    function = p.model.innermost(parent)
    if function is not None:
        promote_result(p, function, kind, cause, node)


def _conditional(p: Flow, node: Node, parent: Node, kind: Type, cause: Entity) -> None:
    if _is_field(parent, "condition", node):
        if field(parent, "consequence") is None:
            p.conflict(cause, parent, "no-symint-operator", "the value is tested for truth and used in one")
        else:
            truth(p, node, kind, cause)
        return
    consequence, alternative = field(parent, "consequence"), field(parent, "alternative")
    other = alternative if consequence is not None and consequence.id == node.id else consequence
    if other is None:
        return
    theirs = p.kind_of(other)
    if kind in LISTS:
        demand(p, other, cause)
    elif kind is Type.SYM_INT and theirs in INTEGERS | {Type.LONG_LONG}:
        p.finally_(lambda: _same_type(p, other, cause))
    elif not (kind is Type.SYM_FLOAT and theirs is Type.SYM_FLOAT):
        p.conflict(cause, parent, "mixed-conditional", f"the other branch is of type {theirs.value}")
        return
    p.flow(parent, kind, cause)


def _same_type(p: Flow, other: Node, cause: Entity) -> None:
    if p.kind_of(other) is not Type.SYM_INT:
        p.wrap(cause, other, "c10::SymInt(", ")")


def _subscript(p: Flow, node: Node, parent: Node, kind: Type, cause: Entity) -> None:
    if _is_field(parent, "argument", node) and kind in LISTS | {Type.SYM_ITER}:
        p.flow(parent, Type.SYM_INT, cause)
    else:
        p.conflict(cause, parent, "array-index", "the value is an index")


def _index(p: Flow, node: Node, parent: Node, kind: Type, cause: Entity) -> None:
    p.conflict(cause, parent, "array-index", "the value is an index")


def _member(p: Flow, node: Node, parent: Node, kind: Type, cause: Entity) -> None:
    call = parent.parent
    name = field(parent, "field")
    if (
        kind is Type.OPTIONAL_SYM_REF
        and field(parent, "operator") is not None
        and p.model.tree.text(parent.children[1]) == "->"
    ):
        kind = Type.SYM_REF
    if name is None or call is None or call.type != "call_expression" or not _is_field(call, "function", parent):
        p.conflict(cause, parent, "unsupported-syntax", "a member of the value is named without a call")
    else:
        list_method(p, node, call, p.model.tree.text(name), kind, cause)


def _range_for(p: Flow, node: Node, parent: Node, kind: Type, cause: Entity) -> None:
    name = field(parent, "declarator")
    while name is not None and name.type == "reference_declarator":
        name = name.named_children[-1] if name.named_children else None
    variable = None if name is None or name.type != "identifier" else p.model.resolve(name)
    if kind not in LISTS or variable is None:
        p.conflict(cause, parent, "loop-bound", "a loop runs over the value")
    elif variable.type not in SYMBOLIC_TYPES:
        store(p, variable, Type.SYM_INT, cause, node)


def _cast(p: Flow, node: Node, parent: Node, kind: Type, cause: Entity) -> None:
    target = p.types.type_of(parent)
    written = field(parent, "type")
    if (
        kind is Type.SYM_INT
        and target in (Type.INT, Type.LONG_LONG)
        and written is not None
        and is_wide(p.model.tree.text(written))
    ):
        p.splice(cause, parent, parent.start_byte, node.start_byte, "")
        p.flow(parent, kind, cause)
    elif kind is Type.SYM_INT and target is Type.FLOAT:
        p.splice(cause, parent, parent.start_byte, node.start_byte, "c10::SymFloat(")
        p.splice(cause, node, node.end_byte, node.end_byte, ")")
        p.flow(parent, Type.SYM_FLOAT, cause)
    else:
        p.conflict(cause, parent, "cast", f"the value is cast by {p.model.tree.text(parent).split(')')[0]})")


def _loop(p: Flow, node: Node, parent: Node, kind: Type, cause: Entity) -> None:
    bound(p, node, cause)


def _template(p: Flow, node: Node, parent: Node, kind: Type, cause: Entity) -> None:
    p.conflict(cause, parent, "template-argument", "the value is a template argument")


def _is_field(parent: Node, name: str, node: Node) -> bool:
    held = parent.child_by_field_name(name)
    return held is not None and held.id == node.id


_HANDLERS: dict[str, Callable[[Flow, Node, Node, Type, Entity], None]] = {
    "parenthesized_expression": _parenthesized,
    "condition_clause": _condition,
    "binary_expression": _binary,
    "unary_expression": _unary,
    "pointer_expression": _unary,
    "update_expression": _update,
    "assignment_expression": _assignment,
    "comma_expression": _parenthesized,
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
