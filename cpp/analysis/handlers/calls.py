"""Symbolic values as arguments or receivers of calls: the accepting calls and their symbolic names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tree_sitter import Node

from ...syntax.model import STRUCTURED_META
from ...syntax.tree import arguments
from ...syntax.types import HELD, INTEGERS, LISTS, SYMBOLIC, SYMBOLIC_TYPES, Type, is_wide
from ..file.inference import TRANSPARENT
from ..file.methods import RANGES
from ..graph.dataflow_facts import Becomes, Constructs, Fact, Flows, Refuses, Requires, Writes
from ..graph.graph import Value
from ..graph.reasons import SkipReason
from .algorithms import standard
from .autograd_apply import applied, handled
from .conditions import truth
from .operator_arguments import header_function, operator_argument
from .pass_context import Pass
from .signatures import follows_schema, may_change
from .templates import SYMINT_FORMS, depends, instantiate, takes_form
from .tuples import returned_part, tied

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


_CONVERTS = frozenset(
    {(Type.SYM_VEC, Type.SYM_REF), (Type.SYM_INT, Type.SYM_REF), (Type.SYM_INT, Type.OPTIONAL_SYM_INT)}
)
"""Implicit conversions of a symbolic argument to a parameter's type. C++ has the same ones for integers."""


def argument(p: Pass, node: Node, call: Node, kind: Type, cause: Value) -> Iterable[Fact]:
    """Return the facts for a symbolic value that is passed to a call."""
    passed = arguments(call)
    position = next((i for i, value in enumerate(passed) if value.id == node.id), -1)
    method = p.types.receiver(call)
    if method is not None:
        return _method(p, call, passed, position, method, kind, cause)
    name = p.types.callee(call)
    function = call.child_by_field_name("function")
    if function is None:
        return ()
    named = p.types.named_type(function)
    if name == "static_cast":
        return _static_cast(p, node, call, function, kind, cause)
    if name in TRANSPARENT:
        return (Flows(cause, call, kind),)
    if named is not Type.UNKNOWN:
        return _constructor(p, call, function, position, named, kind, cause)
    part = returned_part(p, node, call, kind, cause)
    if part is not None:
        return (part,)
    if name == "std::tie":
        return tied(p, node, call, kind, cause)
    if name.startswith("std::"):
        return standard(p, call, name, position, kind, cause)
    if _CHECK.match(name) and not _NOT_A_CHECK.match(name):
        return _check(node, name, position, kind, cause)
    if name in RANGES:
        return (Refuses(cause, call, SkipReason.LOOP_BOUND),)
    if name.rsplit("::", 1)[-1] == "multiply_integers":
        return (*(Requires(cause, value) for value in passed), Flows(cause, call, Type.SYM_INT))
    if name.rsplit("::", 1)[-1] == "fromIntArrayRefSlow" and kind is Type.SYM_REF:
        return _converted(node, call, cause)
    if name.endswith("::apply"):
        forwarded = applied(p, node, call, position, kind, cause)
        if forwarded is not None:
            return forwarded
    if p.types.own_functions(call):
        return _own(p, node, call, position, kind, cause)
    if name.startswith(SYMINT_FORMS) and takes_form(p, call, position):
        return ()
    if re.match(r"AT_DISPATCH|(?:at::)?parallel_", name):
        reason = SkipReason.PARALLEL_FOR if "parallel" in name else SkipReason.DISPATCH_MACRO
        return (Refuses(cause, call, reason, f"the value is handed to {name}"),)
    taken = operator_argument(p, call, passed, position, kind, cause, is_method=False)
    if taken is None:
        taken = header_function(p, call, passed, position, kind, cause)
    if taken is None and _sets_output(p, call, name):
        return (Refuses(cause, call, SkipReason.STRUCTURED_META),)
    if taken is None:
        return (Refuses(cause, call, SkipReason.UNKNOWN_CALLEE, f"nothing says that {name} takes a symbolic value"),)
    return taken


def _sets_output(p: Pass, call: Node, name: str) -> bool:
    """Return whether a structured meta function sets the sizes of an output by this call."""
    function = p.model.function_at(call.start_byte)
    return name.startswith("set_output") and function is not None and function.macro in STRUCTURED_META


def list_method(p: Pass, call: Node, name: str, kind: Type, cause: Value) -> Iterator[Fact]:
    """Yield the facts for a method that is called on a symbolic value."""
    if kind in HELD:
        yield from _optional_method(call, name, kind, cause)
    elif kind not in LISTS:
        yield Refuses(cause, call, SkipReason.UNSUPPORTED_SYNTAX, f"{name}() is called on the value")
    elif name in _LIST_RESULTS:
        yield Flows(cause, call, _LIST_RESULTS[name])
    elif name == "equals":
        for value in arguments(call):
            yield Requires(cause, value)
    elif name in ("insert", "assign", "swap", "append"):
        for value in arguments(call):
            if p.types.type_of(value) not in INTEGERS:
                yield Requires(cause, value)
    elif name not in _LIST_FACTS:
        detail = f"nothing says that {name}() works on symbolic elements"
        yield Refuses(cause, call, SkipReason.UNKNOWN_CALLEE, detail)


def _optional_method(call: Node, name: str, kind: Type, cause: Value) -> Iterator[Fact]:
    if name == "value_or":
        for value in arguments(call):
            yield Requires(cause, value)
    if name in ("value", "value_or"):
        yield Flows(cause, call, HELD[kind])
    elif name not in ("has_value", "reset"):
        yield Refuses(cause, call, SkipReason.UNKNOWN_CALLEE, f"{name}() is called on the value")


def _method(
    p: Pass, call: Node, passed: list[Node], position: int, method: tuple[Node, str], kind: Type, cause: Value
) -> Iterable[Fact]:
    receiver, name = method
    held = p.kind_of(receiver)
    if held in (Type.TENSOR, Type.OPTIONAL_TENSOR):
        refusal = Refuses(cause, call, SkipReason.UNKNOWN_CALLEE, f"Tensor::{name} is no operator")
        taken = operator_argument(p, call, passed, position, kind, cause, is_method=True)
        return (refusal,) if taken is None else taken
    if held is Type.TENSORS:
        return (Refuses(cause, call, SkipReason.DECIDES_ARITY),)
    taken = header_function(p, call, passed, position, kind, cause)
    if taken is not None:
        return taken
    if held in (Type.INT_VEC, Type.SYM_VEC):
        if _is_element(name, position, kind):
            return (Requires(cause, receiver),)
        detail = f"the value is an index or a length in {name}()"
        return (Refuses(cause, call, SkipReason.CONTAINER_SIZE, detail),)
    if (held in (Type.INT_REF, Type.SYM_REF) and name == "equals") or (held in HELD and name == "value_or"):
        return (Requires(cause, receiver),)
    if held is Type.SYM_INT:
        return ()
    taken = handled(p, call, position, receiver, name, kind, cause)
    if taken is not None:
        return taken
    return (Refuses(cause, call, SkipReason.UNKNOWN_CALLEE, f"nothing says that {name}() takes a symbolic value"),)


def _is_element(name: str, position: int, kind: Type) -> bool:
    """Return whether an argument of a container's method becomes an element, or is an iterator over elements."""
    if name == "assign":
        return position != 0
    if name in ("push_back", "emplace_back", "insert", "append", "swap"):
        return True
    return (name == "resize" and position == 1) or (name == "erase" and kind is Type.SYM_ITER)


def _static_cast(p: Pass, node: Node, call: Node, function: Node, kind: Type, cause: Value) -> Iterator[Fact]:
    target = p.types.type_of(call)
    if kind is Type.SYM_INT and target in (Type.INT, Type.LONG_LONG) and is_wide(p.model.tree.text(function)):
        yield Writes(cause, call, "", (function.start_byte, function.end_byte))
        listed = call.child_by_field_name("arguments")
        if listed is not None and node.type in ("identifier", "call_expression", "subscript_expression"):
            yield Writes(cause, call, "", (listed.start_byte, node.start_byte))
            yield Writes(cause, call, "", (node.end_byte, listed.end_byte))
        yield Flows(cause, call, kind)
    elif kind in (Type.SYM_INT, Type.SYM_FLOAT) and target is Type.FLOAT:
        yield Writes(cause, function, "c10::SymFloat")
        yield Flows(cause, call, Type.SYM_FLOAT)
    else:
        yield Refuses(cause, call, SkipReason.CAST, f"the value is cast by {p.model.tree.text(function)}")


def _constructor(
    p: Pass, call: Node, function: Node, position: int, named: Type, kind: Type, cause: Value
) -> Iterator[Fact]:
    if named in SYMBOLIC_TYPES or (named is Type.SCALAR and kind in (Type.SYM_INT, Type.SYM_FLOAT)):
        return
    if named is Type.INT and kind is Type.SYM_INT and is_wide(p.model.tree.text(function)):
        yield Writes(cause, function, "")
        yield Flows(cause, call, kind)
    elif named is Type.FLOAT and kind is Type.SYM_INT:
        yield Writes(cause, function, "c10::SymFloat")
        yield Flows(cause, call, Type.SYM_FLOAT)
    elif named is Type.TENSORS:
        yield Refuses(cause, call, SkipReason.DECIDES_ARITY)
    elif kind is Type.SYM_INT and position == 0 and named is Type.INT_VEC:
        yield Refuses(cause, call, SkipReason.CONTAINER_SIZE)
    elif named in (Type.INT_REF, Type.INT_VEC):
        for value in arguments(call):
            if p.kind_of(value) in (Type.INT_REF, Type.INT_VEC, Type.INT_ITER):
                yield Requires(cause, value)
        yield Constructs(cause, call, function, named)
    else:
        yield Refuses(cause, call, SkipReason.UNKNOWN_CALLEE, f"the value constructs a {named.value}")


def _converted(node: Node, call: Node, cause: Value) -> Iterator[Fact]:
    """Yield the facts that remove the conversion of an array that is now symbolic."""
    yield Writes(cause, call, "", (call.start_byte, node.start_byte))
    yield Writes(cause, call, "", (node.end_byte, call.end_byte))
    yield Flows(cause, call, Type.SYM_REF)


def _check(node: Node, name: str, position: int, kind: Type, cause: Value) -> tuple[Fact, ...]:
    test = 1 if name in _WITH else 0
    if position == test and _TESTS_FIRST.match(name):
        return truth(node, kind, cause)
    if kind is Type.SYM_ITER:
        return (Refuses(cause, node, SkipReason.UNKNOWN_CALLEE, "an iterator has no text"),)
    return ()


def _own(p: Pass, node: Node, call: Node, position: int, kind: Type, cause: Value) -> Iterator[Fact]:
    owns = p.types.own_functions(call)
    parameters = [own.parameters[position] for own in owns if position < len(own.parameters)]
    if len(owns) != 1 or len(parameters) != 1:
        if not parameters or any(parameter.type not in SYMBOLIC_TYPES for parameter in parameters):
            yield Refuses(cause, call, SkipReason.OVERLOADED)
        return
    parameter = parameters[0]
    if owns[0].is_template and depends(parameter):
        yield from instantiate(p, owns[0], call, position, kind, cause)
        return
    if parameter.type in SYMBOLIC_TYPES or (parameter.type is Type.SCALAR and kind in (Type.SYM_INT, Type.SYM_FLOAT)):
        return
    target = SYMBOLIC.get(parameter.type)
    if parameter.type is Type.AUTO and owns[0].is_lambda:
        target = kind
    if target is not kind and (kind, target) not in _CONVERTS:
        detail = f"{owns[0].name} takes a {parameter.type_text} there"
        yield Refuses(cause, node, SkipReason.CONCRETE_PARAMETER, detail)
        return
    refusal = None if follows_schema(p, parameter) else may_change(p, owns[0])
    if refusal is not None:
        yield Refuses(cause, call, *refusal)
    else:
        yield Becomes(cause, parameter, SYMBOLIC.get(parameter.type, kind))
