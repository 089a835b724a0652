"""Integer parameters that are sizes: what says so, what speaks against it, and the signature that takes SymInts there.

A schema says ``int`` of sizes and of much else. What a parameter is called says nothing: it is followed as if it were
symbolic already, and where it goes says what it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from tree_sitter import Node

from ...codemods.torchapi import Signature
from ..syntax.declarations import Function, Variable
from ..syntax.tree import arguments, every
from ..syntax.types import SYMBOLIC, Type, symbolic_text
from .graph import FlowGraph, Form, Refusal, Value
from .growth import grow
from .knowledge import Knowledge
from .methods import CONCRETE
from .seeds import Wanted, seeds

_ARITHMETIC = frozenset({"binary_expression", "parenthesized_expression", "initializer_list"})
_INTEGERS = frozenset({Type.INT, Type.INT_REF, Type.INT_VEC, Type.OPTIONAL_INT, Type.OPTIONAL_INT_REF})


@dataclass(frozen=True)
class Evidence:
    """What the body of a function says of one of its parameters.

    ``for_size`` are one sentence each for what only takes sizes, ``against`` the places that take plain integers only.
    """

    for_size: tuple[str, ...]
    against: tuple[Refusal, ...]


def widened(function: Function, names: Collection[str], name: str | None = None) -> Signature | None:
    """The signature of a function whose parameters ``names`` take SymInts, under a new name if it gets one.

    None where one of the names is no parameter, or is of a type without a symbolic twin.
    """
    parameters: list[tuple[str, str]] = []
    for own in function.parameters:
        text: str | None = own.type_text
        if own.name in names:
            text = symbolic_text(own.type_text, own.type) if own.type in _INTEGERS else None
        if text is None:
            return None
        parameters.append((text, own.name))
    if not {own for _, own in parameters}.issuperset(names):
        return None
    return Signature(name or function.name, tuple(parameters))


def evidence(know: Knowledge, function: Function, parameter: str) -> Evidence:
    """What a function does with one of its integer parameters; nothing where it has none of that name."""
    return evidences(know, {function: (parameter,)}).get((function, parameter), Evidence((), ()))


def evidences(know: Knowledge, asked: Mapping[Function, Collection[str]]) -> Mapping[tuple[Function, str], Evidence]:
    """What functions of a file do with some of their integer parameters, all followed at once."""
    followed: dict[Function, tuple[str, ...]] = {}
    wanted: list[Wanted] = []
    for function, names in asked.items():
        own = tuple(name for name in names if widened(function, (name,)) is not None)
        expected = widened(function, own) if own and know.eligibility.is_eligible(function) else None
        if expected is not None:
            followed[function] = own
            wanted.append((function.node.start_byte, expected))
    live, _, kernel_code = seeds(know, signatures=False, wanted=wanted)
    graph = grow(know, live, kernel_code).graph if wanted else FlowGraph((), ())
    effects: dict[Value, list[Value]] = {}
    for cause, effect in graph.edges:
        effects.setdefault(cause, []).append(effect)
    return {
        (function, variable.name): _evidence(know, variable, graph, effects)
        for function, own in followed.items()
        for variable in function.parameters
        if variable.name in own
    }


def _evidence(know: Knowledge, variable: Variable, graph: FlowGraph, effects: Mapping[Value, list[Value]]) -> Evidence:
    reached = _reached(effects, Value(Form.VARIABLE, variable.node.id), _of_others(know, variable))
    lines = dict.fromkeys((*_symbolic_calls(know, reached), *_equal_sizes(know, variable)))
    against = dict.fromkeys(refusal for value, refusal in graph.sinks if value in reached)
    return Evidence(tuple(lines), tuple(against))


def direct_evidence(know: Knowledge, function: Function, parameter: Variable) -> Iterator[str]:
    """What a kernel on real data does with one of its integers itself: it is an argument where torch takes a SymInt."""
    for use in know.model.references(parameter):
        node = use
        while node.parent is not None and node.parent.type in _ARITHMETIC:
            node = node.parent
        call = None if node.parent is None else node.parent.parent
        if call is None or call.type != "call_expression" or node.parent is None or node.parent.type != "argument_list":
            continue
        place = next((i for i, value in enumerate(arguments(call)) if value.id == node.id), -1)
        is_method = know.types.receiver(call) is not None
        for operator in know.types.operators(call):
            taken = operator.method_arguments if is_method else operator.arguments
            if 0 <= place < len(taken) and taken[place].symbolic:
                yield f"it reaches {operator.cpp_name} where that takes a SymInt, line {_line(know, call)}"
                break


def _of_others(know: Knowledge, variable: Variable) -> frozenset[Value]:
    """The parameters of other kernels: what they are does not follow from a helper that both call."""
    return frozenset(
        Value(Form.VARIABLE, other.node.id)
        for function in know.model.functions
        if function is not variable.function and know.eligibility.is_registered(function)
        for other in function.parameters
    )


def _reached(effects: Mapping[Value, list[Value]], start: Value, beyond: Collection[Value]) -> set[Value]:
    found, waiting = {start}, [start]
    while waiting:
        for effect in effects.get(waiting.pop(), ()):
            if effect not in found and effect not in beyond:
                found.add(effect)
                waiting.append(effect)
    return found


def _symbolic_calls(know: Knowledge, reached: set[Value]) -> Iterator[str]:
    """The operators and helpers that take the value where their schema or declaration says SymInt."""
    calls = {value.key for value in reached if value.form is Form.CALL}
    for call in every(know.model.tree.root, "call_expression") if calls else ():
        if call.id not in calls:
            continue
        operators = [one for one in know.types.operators(call) if one.symbolic]
        helpers = [one.name for one in know.types.helpers(call) if one.name.endswith("_symint")]
        names = [one.cpp_name for one in operators] or helpers
        if names:
            yield f"it reaches {names[0]} where that takes a SymInt, line {_line(know, call)}"


def _equal_sizes(know: Knowledge, variable: Variable) -> Iterator[str]:
    """The places where the parameter itself has to equal a size of a Tensor."""
    for use in know.model.references(variable):
        around = use.parent
        if around is None or around.type != "binary_expression":
            continue
        sign, left, right = (around.child_by_field_name(name) for name in ("operator", "left", "right"))
        if sign is None or left is None or right is None or sign.type not in ("==", "!="):
            continue
        other = right if left.id == use.id else left
        if _is_size(know, other):
            text = know.model.tree.text(other)
            yield f"it is compared with {text}, line {_line(know, use)}"


def _is_size(know: Knowledge, node: Node) -> bool:
    method = know.types.receiver(node) if node.type == "call_expression" else None
    if method is None or not know.types.is_tensor(method[0]):
        return False
    name = method[1].removeprefix("sym_")
    return name in CONCRETE and SYMBOLIC.get(CONCRETE[name][1]) is Type.SYM_INT and len(arguments(node)) <= 1


def _line(know: Knowledge, node: Node) -> int:
    return know.model.tree.content.count(b"\n", 0, node.start_byte) + 1
