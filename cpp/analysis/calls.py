"""A symbolic value as an argument or as the receiver of a call: which calls take it, and under which name."""

from __future__ import annotations

import re

from tree_sitter import Node

from ..syntax.tree import arguments, field
from ..syntax.types import HELD, SYMBOLIC, Type, is_wide
from .conditions import truth
from .flow import Entity, Flow
from .inference import TRANSPARENT
from .operator_arguments import header_function, operator_argument
from .promote import INTEGERS, LISTS, SYMBOLIC_TYPES, construct, demand, promote, put
from .signatures import follows_schema, may_change

_CHECK = re.compile(
    r"(?:c10::)?(?:TORCH_(?:CHECK|INTERNAL_ASSERT|WARN|SYM_CHECK)(?:_[A-Z_]+)?|AT_(?:ERROR|ASSERTM?)|str)\Z"
)
_TESTS_FIRST = re.compile(r"TORCH_(?:CHECK|INTERNAL_ASSERT)|AT_ASSERT")
_WITH = ("TORCH_CHECK_WITH", "TORCH_CHECK_WITH_MSG")
_NOT_A_CHECK = re.compile(r"TORCH_CHECK_(?:EQ|NE|LT|LE|GT|GE)\Z")
_LIST_RESULTS = {
    "vec": Type.SYM_VEC, "slice": Type.SYM_REF, "drop_front": Type.SYM_REF, "drop_back": Type.SYM_REF,
    "begin": Type.SYM_ITER, "end": Type.SYM_ITER, "cbegin": Type.SYM_ITER, "cend": Type.SYM_ITER,
    "rbegin": Type.SYM_ITER, "rend": Type.SYM_ITER, "data": Type.SYM_ITER,
    "front": Type.SYM_INT, "back": Type.SYM_INT, "at": Type.SYM_INT,
}  # fmt: skip
_LIST_FACTS = frozenset(
    {"size", "empty", "reserve", "resize", "pop_back", "clear", "push_back", "emplace_back", "erase"}
)
_ALGORITHMS = {
    "std::fill": 2,
    "std::copy": 3,
    "std::reverse": 2,
    "std::rotate": 3,
    "std::iter_swap": 2,
    "std::swap_ranges": 3,
}
"""Standard algorithms that only move elements, with how many leading arguments are iterators of one element type."""


_CONVERTS = frozenset(
    {(Type.SYM_VEC, Type.SYM_REF), (Type.SYM_INT, Type.SYM_REF), (Type.SYM_INT, Type.OPTIONAL_SYM_INT)}
)
"""What C++ converts by itself on the way into a parameter, as it does for the integers these stand for."""


def argument(p: Flow, node: Node, call: Node, kind: Type, cause: Entity) -> None:
    """A symbolic value is passed to a call."""
    passed = arguments(call)
    position = next((i for i, value in enumerate(passed) if value.id == node.id), -1)
    method = p.types.receiver(call)
    if method is not None:
        _method(p, node, call, position, method, kind, cause)
        return
    name = p.types.callee(call)
    function = field(call, "function")
    if function is None:
        return
    named = p.types.named_type(function)
    if name == "static_cast":
        _static_cast(p, node, call, function, kind, cause)
    elif name in TRANSPARENT:
        p.flow(call, kind, cause)
    elif named is not Type.UNKNOWN:
        _constructor(p, node, call, function, position, named, kind, cause)
    elif name.startswith("std::"):
        _standard(p, node, call, name, position, kind, cause)
    elif _CHECK.match(name) and not _NOT_A_CHECK.match(name):
        _check(p, node, name, position, kind, cause)
    elif name in ("c10::irange", "irange", "at::irange"):
        p.conflict(cause, call, "loop-bound", "a loop runs as often as the value says")
    elif name.rsplit("::", 1)[-1] == "multiply_integers":
        for value in passed:
            demand(p, value, cause)
        p.flow(call, Type.SYM_INT, cause)
    elif p.types.own_functions(call):
        _own(p, node, call, position, kind, cause)
    elif re.match(r"AT_DISPATCH|(?:at::)?parallel_", name):
        reason = "parallel-for" if "parallel" in name else "dispatch-macro"
        p.conflict(cause, call, reason, f"the value is handed to {name}")
    elif not operator_argument(p, node, call, position, kind, cause) and not header_function(
        p, node, call, position, kind, cause
    ):
        p.conflict(cause, call, "unknown-callee", f"nothing says that {name} takes a symbolic value")


def list_method(p: Flow, node: Node, call: Node, name: str, kind: Type, cause: Entity) -> None:
    """A method is called on a value that is now symbolic."""
    if kind in HELD:
        _optional_method(p, call, name, kind, cause)
        return
    if kind not in LISTS:
        p.conflict(cause, call, "unsupported-syntax", f"{name}() is called on the value")
        return
    if name in _LIST_RESULTS:
        p.flow(call, _LIST_RESULTS[name], cause)
    elif name == "equals":
        for value in arguments(call):
            demand(p, value, cause)
    elif name in ("insert", "assign", "swap", "append"):
        for value in arguments(call):
            if p.types.type_of(value) not in INTEGERS:
                demand(p, value, cause)
    elif name not in _LIST_FACTS:
        p.conflict(cause, call, "unknown-callee", f"nothing says that {name}() works on symbolic elements")


def _optional_method(p: Flow, call: Node, name: str, kind: Type, cause: Entity) -> None:
    if name == "value_or":
        for value in arguments(call):
            demand(p, value, cause)
    if name in ("value", "value_or"):
        p.flow(call, HELD[kind], cause)
    elif name not in ("has_value", "reset"):
        p.conflict(cause, call, "unknown-callee", f"{name}() is called on the value")


def _method(
    p: Flow, node: Node, call: Node, position: int, method: tuple[Node, str], kind: Type, cause: Entity
) -> None:
    receiver, name = method
    held = p.kind_of(receiver)
    if held in (Type.TENSOR, Type.OPTIONAL_TENSOR):
        if not operator_argument(p, node, call, position, kind, cause):
            p.conflict(cause, call, "unknown-callee", f"Tensor::{name} is no operator")
    elif held is Type.TENSORS:
        p.conflict(cause, call, "decides-arity", "the value decides how many Tensors there are")
    elif held in (Type.INT_VEC, Type.SYM_VEC):
        if (
            (
                name in ("push_back", "emplace_back", "insert", "assign", "append", "swap")
                and not (name == "assign" and position == 0)
            )
            or (name in ("resize", "assign") and position == 1)
            or (name == "erase" and kind is Type.SYM_ITER)
        ):
            demand(p, receiver, cause)
        else:
            p.conflict(cause, call, "container-size", f"the value is an index or a length in {name}()")
    elif (held in (Type.INT_REF, Type.SYM_REF) and name == "equals") or (held in HELD and name == "value_or"):
        demand(p, receiver, cause)
    elif held is not Type.SYM_INT:
        p.conflict(cause, call, "unknown-callee", f"nothing says that {name}() takes a symbolic value")


def _static_cast(p: Flow, node: Node, call: Node, function: Node, kind: Type, cause: Entity) -> None:
    target = p.types.type_of(call)
    if kind is Type.SYM_INT and target in (Type.INT, Type.LONG_LONG) and is_wide(p.model.tree.text(function)):
        p.splice(cause, call, function.start_byte, function.end_byte, "")
        if node.type in ("identifier", "call_expression", "subscript_expression"):
            listed = field(call, "arguments")
            if listed is not None:
                p.splice(cause, call, listed.start_byte, node.start_byte, "")
                p.splice(cause, call, node.end_byte, listed.end_byte, "")
        p.flow(call, kind, cause)
    elif kind in (Type.SYM_INT, Type.SYM_FLOAT) and target is Type.FLOAT:
        p.edit(cause, function, "c10::SymFloat")
        p.flow(call, Type.SYM_FLOAT, cause)
    else:
        p.conflict(cause, call, "cast", f"the value is cast by {p.model.tree.text(function)}")


def _constructor(
    p: Flow, node: Node, call: Node, function: Node, position: int, named: Type, kind: Type, cause: Entity
) -> None:
    if named in SYMBOLIC_TYPES or (named is Type.SCALAR and kind in (Type.SYM_INT, Type.SYM_FLOAT)):
        return
    if named is Type.INT and kind is Type.SYM_INT and is_wide(p.model.tree.text(function)):
        p.edit(cause, function, "")
        p.flow(call, kind, cause)
    elif named is Type.FLOAT and kind is Type.SYM_INT:
        p.edit(cause, function, "c10::SymFloat")
        p.flow(call, Type.SYM_FLOAT, cause)
    elif named is Type.TENSORS:
        p.conflict(cause, call, "decides-arity", "the value decides how many Tensors there are")
    elif named in (Type.INT_REF, Type.INT_VEC):
        if kind is Type.SYM_INT and position == 0 and named is Type.INT_VEC:
            p.conflict(cause, call, "container-size", "the value decides how many elements there are")
            return
        for value in arguments(call):
            if p.kind_of(value) in (Type.INT_REF, Type.INT_VEC, Type.INT_ITER):
                demand(p, value, cause)
        construct(p, call, function, named, cause)
    else:
        p.conflict(cause, call, "unknown-callee", f"the value constructs a {named.value}")


def _standard(p: Flow, node: Node, call: Node, name: str, position: int, kind: Type, cause: Entity) -> None:
    passed = arguments(call)
    if name in ("std::max", "std::min") and kind is Type.SYM_INT and len(passed) == 2:
        _extremum(p, call, name, passed, cause)
    elif name == "std::accumulate" and kind is Type.SYM_ITER:
        _product(p, call, passed, cause)
    elif name in _ALGORITHMS and kind in (Type.SYM_ITER, Type.SYM_INT):
        for value in passed[: _ALGORITHMS[name]]:
            demand(p, value, cause)
    elif name == "std::fill_n" and position != 1 and kind in (Type.SYM_ITER, Type.SYM_INT):
        demand(p, passed[0], cause)
    elif name == "std::swap":
        for value in passed:
            put(p, value, kind, cause)
    else:
        p.conflict(cause, call, "unknown-callee", f"nothing says that {name} takes a symbolic value")


def _extremum(p: Flow, call: Node, name: str, passed: list[Node], cause: Entity) -> None:
    """``std::max(a, b)`` decides by ``<``; ``a.max(b)`` does not."""
    function = field(call, "function")
    named = re.search(r"<.*>", p.model.tree.text(function), re.DOTALL) if function is not None else None
    if named is not None and not is_wide(named[0]):
        p.conflict(cause, call, "cast", f"the values are cast by {name}{named[0]}")
        return
    for value in passed:
        if p.kind_of(value) not in INTEGERS - {Type.UNSIGNED}:
            p.conflict(
                cause, call, "unknown-operand", f"{p.model.tree.text(value)} is of type {p.kind_of(value).value}"
            )
            return
    entity: Entity = ("call", call.id)
    p.link(cause, entity)
    p.finally_(lambda: _write_extremum(p, call, name.removeprefix("std::"), passed, entity))
    p.flow(call, Type.SYM_INT, entity)


def _write_extremum(p: Flow, call: Node, word: str, passed: list[Node], entity: Entity) -> None:
    subject, other = passed
    if p.kind_of(subject) is not Type.SYM_INT:
        subject, other = other, subject
    simple = ("identifier", "call_expression", "subscript_expression", "parenthesized_expression")
    around = (subject,) if subject.type in simple else ("(", subject, ")")
    p.rearrange(entity, call, (*around, f".{word}(", other, ")"))


def _product(p: Flow, call: Node, passed: list[Node], cause: Entity) -> None:
    text = p.model.tree.text
    is_product = len(passed) == 4 and re.fullmatch(
        r"std::multiplies<[^<>]*>(?:\(\)|\{\})", re.sub(r"\s", "", text(passed[3]))
    )
    starts_at_one = len(passed) == 4 and re.fullmatch(
        r"(?:static_cast<int64_t>\()?(?:int64_t\{?\(?)?1(?:[lL]{0,2})[)}]*", text(passed[2])
    )
    function = field(call, "function")
    if not is_product or not starts_at_one or function is None:
        p.conflict(cause, call, "unknown-callee", "the elements are combined in a way that is no plain product")
        return
    for value in passed[:2]:
        demand(p, value, cause)
    entity: Entity = ("call", call.id)
    p.link(cause, entity)
    p.edit(entity, function, "c10::multiply_integers")
    p.splice(entity, call, passed[1].end_byte, passed[3].end_byte, "")
    p.flow(call, Type.SYM_INT, entity)


def _check(p: Flow, node: Node, name: str, position: int, kind: Type, cause: Entity) -> None:
    test = 1 if name in _WITH else 0
    if position == test and _TESTS_FIRST.match(name):
        truth(p, node, kind, cause)
    elif kind is Type.SYM_ITER:
        p.conflict(cause, node, "unknown-callee", "an iterator has no text")


def _own(p: Flow, node: Node, call: Node, position: int, kind: Type, cause: Entity) -> None:
    owns = p.types.own_functions(call)
    parameters = [own.parameters[position] for own in owns if position < len(own.parameters)]
    if len(owns) != 1 or len(parameters) != 1:
        if not parameters or any(parameter.type not in SYMBOLIC_TYPES for parameter in parameters):
            p.conflict(cause, call, "overloaded", "several functions of the file could be meant")
        return
    parameter = parameters[0]
    if parameter.type in SYMBOLIC_TYPES or (parameter.type is Type.SCALAR and kind in (Type.SYM_INT, Type.SYM_FLOAT)):
        return
    target = SYMBOLIC.get(parameter.type)
    if parameter.type is Type.AUTO and owns[0].is_lambda:
        target = kind
    if target is not kind and (kind, target) not in _CONVERTS:
        p.conflict(cause, node, "concrete-parameter", f"{owns[0].name} takes a {parameter.type_text} there")
        return
    refusal = None if follows_schema(p, parameter) else may_change(p, owns[0])
    if refusal is not None:
        p.conflict(cause, call, *refusal)
    else:
        promote(p, parameter, SYMBOLIC.get(parameter.type, kind), cause)
