"""Output allocations of a kernel: the declarations and the return expression that output shapes depend on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from ...syntax.declarations import Function, Variable
from ...syntax.tree import arguments, every
from ..file.file_analysis import FileAnalysis
from ..file.methods import CONCRETE

_OF_SHAPES = frozenset(
    {*CONCRETE, "dim", "options", "dtype", "device", "layout", "scalar_type", "vec", "has_value", "value"}
)
_JOINS = ("std::make_tuple", "std::tuple", "make_tuple")
_ARITHMETIC = frozenset({"+", "-", "*", "/", "%"})


@dataclass(frozen=True)
class Allocations:
    """The ``declarations`` that the ``returned`` expression depends on, in source order."""

    declarations: tuple[Node, ...]
    returned: Node


@dataclass(frozen=True)
class Underived:
    """Reason why the output shapes can't be derived from the allocations."""

    why: str


def allocations(know: FileAnalysis, function: Function) -> Allocations | Underived:
    """Return the allocations of a kernel's outputs, or ``Underived``.

    An output whose shape changes after its allocation is not derived.
    """
    returns = [node for node in every(function.body, "return_statement") if know.model.innermost(node) is function]
    if len(returns) != 1 or not returns[0].named_children:
        return Underived(f"{function.name} returns at {len(returns)} places, or nothing")
    if returns[0].parent is None or returns[0].parent.id != function.body.id:
        return Underived(f"{function.name} returns inside a branch or a loop")
    returned = returns[0].named_children[0]
    declarations: dict[int, Node] = {}
    waiting = [returned]
    while waiting:
        node = waiting.pop()
        for part in _parts(know, node):
            if isinstance(part, str):
                return Underived(part)
            why = _unfit(know, function, part)
            if why is not None:
                return Underived(why)
            if part.declaration.id not in declarations:
                declarations[part.declaration.id] = part.declaration
                waiting += part.initializers
    made = [value for value in _values(know, returned) if not _allocates(know, value)]
    if made:
        return Underived(f"`{_short(know, made[0])}` is no tensor that {function.name} allocates")
    return Allocations(tuple(sorted(declarations.values(), key=lambda node: node.start_byte)), returned)


def _parts(know: FileAnalysis, node: Node) -> Iterator[Variable | str]:
    """Yield the locals that an expression names.

    Yield a sentence instead if it does more than compute shapes and allocate.
    """
    for call in every(node, "call_expression"):
        method = know.types.receiver(call)
        known = method is not None and method[1] in _OF_SHAPES
        if not known and know.types.callee(call) not in _JOINS and not know.types.operators(call):
            function = call.child_by_field_name("function")
            built = function is not None and know.types.named_type(function).value != "unknown"
            if not built and not (method is not None and know.types.type_of(method[0]).value == "TensorOptions"):
                yield f"`{_short(know, call)}` is no operator and no size"
                return
    for kind in ("lambda_expression", "conditional_expression", "assignment_expression"):
        for found in every(node, kind):
            yield f"`{_short(know, found)}` decides a shape"
            return
    for name in every(node, "identifier"):
        variable = know.model.resolved[name]
        if variable is not None and variable.how != "parameter":
            yield variable


def _unfit(know: FileAnalysis, function: Function, variable: Variable) -> str | None:
    """Return why a local's final value may differ from its initializer, or None if they are equal."""
    if variable.how != "local" or not variable.initializers or variable.declaration.parent is None:
        return f"{variable.name} is not set where it is declared"
    if variable.declaration.parent.id != function.body.id:
        return f"{variable.name} is declared inside a branch or a loop"
    for use in know.model.references(variable):
        around = use.parent
        if around is not None and around.type in ("assignment_expression", "update_expression"):
            left = around.child_by_field_name("left")
            if left is None or left.id == use.id:
                return f"{variable.name} is assigned again"
        if around is not None and around.type == "field_expression":
            name = around.child_by_field_name("field")
            method = "" if name is None else (name.text or b"").decode()
            if method.endswith("_") or method in ("push_back", "insert", "resize", "erase", "pop_back"):
                return f"{variable.name}.{method}() changes it"
    return None


def _values(know: FileAnalysis, returned: Node) -> list[Node]:
    """Return the output expressions: the parts of a returned tuple, else the expression itself."""
    if returned.type == "initializer_list":
        return arguments(returned)
    if returned.type == "call_expression" and know.types.callee(returned) in _JOINS:
        return arguments(returned)
    return [returned]


def _allocates(know: FileAnalysis, value: Node) -> bool:
    """Return whether an output is the fresh result of an operator that allocates by size and tensor options."""
    seen: set[int] = set()
    while value.type == "identifier" and value.id not in seen:
        seen.add(value.id)
        variable = know.model.resolved[value]
        if variable is None or len(variable.initializers) != 1:
            return False
        value = variable.initializers[0]
    if value.type != "call_expression":
        return False
    return any(operator.tensor_options for operator in know.types.operators(value))


def _short(know: FileAnalysis, node: Node) -> str:
    words = re.sub(r"\s+", " ", know.model.tree.text(node))
    return words if len(words) <= 60 else f"{words[:57]}..."
