"""Argument flow of functions: the operator arguments that their parameters reach, and their use as selectors.

Nothing is promoted here. A value is followed through locals, members of locals, arithmetic, lists and the functions of
the file. It is followed as long as it is the same number or is computed from it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from tree_sitter import Node

from ....codemods.torchapi import Argument, OverloadSignature
from ...syntax.declarations import NAMES, Function, Variable
from ...syntax.tree import arguments, every
from ...syntax.types import SYMBOLIC, SYMBOLIC_TYPES, Type
from ..file.eligibility import has_types
from ..file.file_analysis import FileAnalysis
from ..file.inference import TRANSPARENT
from ..handlers.operator_arguments import fits

SIZE = -1
"""Origin of a value that is a size of a Tensor. Any other origin is the position of a parameter."""
Origins = frozenset[int]

INDEX, DIMENSION, COUNT = "an index", "a dimension", "a number of elements"
"""Roles of a value that selects elements."""

_NOTHING: Origins = frozenset()
_SIZES = frozenset({"size", "sizes", "numel", "sym_size", "sym_sizes", "sym_numel"})
_SAME = TRANSPARENT | {"std::min", "std::max", "std::abs", "std::make_optional", "c10::make_optional"}
"""Functions whose result is one of their arguments or differs from it only in sign or type."""
_READS = frozenset(
    {"value", "value_or", "vec", "slice", "begin", "end", "rbegin", "rend", "front", "back", "at", "data"}
)
"""Methods of lists, optionals and iterators that return their elements."""
_PUTS = frozenset({"push_back", "emplace_back", "append", "insert", "assign"})
_DIMENSIONS = frozenset({"size", "sym_size", "stride", "sym_stride"})
_WRAPS = re.compile(r"maybe_wrap_dims?\w*$")
_ARITHMETIC = frozenset({"+", "-", "*", "/", "%"})
_LISTS = frozenset({Type.INT_VEC, Type.INT_REF})
_NUMBERS = (frozenset(SYMBOLIC) | SYMBOLIC_TYPES) - {Type.FLOAT, Type.SYM_FLOAT, Type.SYM_BOOL}


class ArgumentFlow(NamedTuple):
    """A value of one of ``origins`` that is the argument ``argument`` of an operator. ``line`` is 1-based."""

    origins: Origins
    operator: str
    argument: str
    type: str
    line: int


class NonSizeValues(NamedTuple):
    """Values of ``origins`` that are no sizes: their role ``what`` (INDEX, DIMENSION or COUNT), and the line."""

    origins: Origins
    what: str
    line: int


@dataclass(frozen=True)
class Summary:
    """OverloadSignature arguments and selectors that a function's parameters reach, and the origins of its result.

    ``returned`` maps the members of a struct to origins. The empty name is the result itself.
    """

    handed: tuple[ArgumentFlow, ...]
    selected: tuple[NonSizeValues, ...]
    returned: Mapping[str, Origins]


class ArgumentFlows:
    """Argument-flow summaries of the functions of one file, each computed once."""

    def __init__(self, know: FileAnalysis) -> None:
        self._know = know
        self._summaries: dict[int, Summary] = {}

    def of(self, function: Function) -> Summary:
        """Return the summary of a function, including its calls of functions in the file.

        Recursive calls contribute nothing.
        """
        found = self._summaries.get(function.node.id)
        if found is None:
            self._summaries[function.node.id] = Summary((), (), {})
            found = self._summaries[function.node.id] = _Reading(self._know, self, function).summary()
        return found


@lru_cache(maxsize=4)
def handing(know: FileAnalysis) -> ArgumentFlows:
    """Return the argument flow of a file. The last few files are cached."""
    return ArgumentFlows(know)


class _Reading:
    """Fixpoint over one function: the origins of each local and member."""

    def __init__(self, know: FileAnalysis, files: ArgumentFlows, function: Function) -> None:
        self._know = know
        self._files = files
        self._function = function
        self._held: dict[tuple[int, str], Origins] = defaultdict(frozenset)
        for parameter in function.parameters:
            if parameter.type in _NUMBERS:
                self._held[parameter.node.id, ""] = frozenset({parameter.position})

    def summary(self) -> Summary:
        calls = every(self._function.body, "call_expression")
        assigned = every(self._function.body, "assignment_expression")
        while self._grow(calls, assigned):
            pass
        handed = tuple(dict.fromkeys(one for call in calls for one in self._handed(call)))
        selected = (*self._indices(), *(one for call in calls for one in self._selected(call)))
        return Summary(handed, tuple(dict.fromkeys(selected)), self._returned())

    def _grow(self, calls: list[Node], assigned: list[Node]) -> bool:
        """Process every store once, and return whether a new origin was found."""
        before = sum(map(len, self._held.values()))
        for variable in self._know.model.variables(self._function):
            for value in variable.initializers:
                if not self._counts(variable, value):
                    self._store((variable.node.id, ""), value)
        for node in assigned:
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            target = None if left is None else self._target(left)
            if target is not None and right is not None:
                self._store(target, right)
        for call in calls:
            method = self._know.types.receiver(call)
            target = self._target(method[0]) if method is not None and method[1] in _PUTS else None
            skipped = 1 if method is not None and method[1] == "insert" else 0
            for value in arguments(call)[skipped:] if target is not None else ():
                assert target is not None
                self._store(target, value)
        return sum(map(len, self._held.values())) > before

    def _counts(self, variable: Variable, value: Node) -> bool:
        """Return whether an initializer is the length of a list or its start."""
        types = self._know.types
        is_list = types.type_of(variable.node) in _LISTS | {Type.TENSORS}
        return is_list and types.type_of(value) in (Type.INT, Type.LONG_LONG)

    def _store(self, target: tuple[int, str], value: Node) -> None:
        holder, member = target
        for own, origins in self._members(value).items():
            self._held[holder, member or own] |= origins

    def _members(self, value: Node) -> Mapping[str, Origins]:
        """Return the origins of a value, by member if it is a struct."""
        if value.type in NAMES:
            variable = self._know.model.resolved[value]
            own = None if variable is None else variable.node.id
            return {member: origins for (holder, member), origins in self._held.items() if holder == own}
        if value.type == "call_expression" and (called := self._called(value)):
            return {
                member: self._given(value, origins)
                for function in called
                for member, origins in self._files.of(function).returned.items()
            }
        return {"": self._carried(value)}

    def _called(self, call: Node) -> list[Function]:
        return [one for one in self._know.types.own_functions(call) if not one.is_lambda]

    def _given(self, call: Node, origins: Origins) -> Origins:
        """Return the origins of a call's result, translated to the parameters of the calling function."""
        passed = arguments(call)
        given = origins & {SIZE}
        for position in origins - {SIZE}:
            if position < len(passed):
                given |= self._carried(passed[position])
        return given

    def _target(self, node: Node) -> tuple[int, str] | None:
        """Return the local, and its member, that an assignment to an expression changes."""
        while node.type in ("subscript_expression", "pointer_expression", "parenthesized_expression"):
            inner = node.child_by_field_name("argument") or next(iter(node.named_children), None)
            if inner is None:
                return None
            node = inner
        if node.type == "call_expression":
            method = self._know.types.receiver(node)
            return None if method is None or method[1] not in _READS else self._target(method[0])
        member = ""
        if node.type == "field_expression":
            field, holder = node.child_by_field_name("field"), node.child_by_field_name("argument")
            if field is None or holder is None:
                return None
            member, node = self._know.model.tree.text(field), holder
        variable = self._know.model.resolved[node] if node.type in NAMES else None
        return None if variable is None else (variable.node.id, member)

    def _carried(self, node: Node) -> Origins:
        """Return the origins of an expression that is a number or a list of numbers."""
        match node.type:
            case "identifier" | "type_identifier" | "field_expression":
                target = self._target(node)
                return _NOTHING if target is None else self._held[target]
            case "call_expression":
                return self._of_call(node)
            case "binary_expression":
                sign = node.child_by_field_name("operator")
                parts = node.named_children if sign is not None and sign.type in _ARITHMETIC else []
            case "conditional_expression":
                parts = node.named_children[1:]
            case "subscript_expression":
                parts = node.named_children[:1]
            case "unary_expression" | "pointer_expression" | "parenthesized_expression" | "initializer_list":
                parts = node.named_children
            case "compound_literal_expression" | "cast_expression":
                value = node.child_by_field_name("value")
                parts = [] if value is None else [value]
            case _:
                parts = []
        return frozenset().union(*(self._carried(part) for part in parts))

    def _of_call(self, call: Node) -> Origins:
        types = self._know.types
        passed = arguments(call)
        method = types.receiver(call)
        if method is not None:
            receiver, name = method
            if types.is_tensor(receiver):
                return frozenset({SIZE}) if name in _SIZES else _NOTHING
            within = (receiver, *(passed if name == "value_or" else ()))
            return frozenset().union(*(self._carried(part) for part in within)) if name in _READS else _NOTHING
        called = self._called(call)
        if called:
            returned = (self._files.of(one).returned.values() for one in called)
            return frozenset().union(*(self._given(call, origins) for some in returned for origins in some))
        function = call.child_by_field_name("function")
        same = types.callee(call) in _SAME
        made = function is not None and (function.type == "template_function" or self._makes(function))
        if made and len(passed) == 2 and types.type_of(passed[0]) in (Type.INT, Type.LONG_LONG):
            return self._carried(passed[1])
        if not same and not made:
            # The result of an external function of a list of sizes counts as these sizes.
            passed = [] if types.operators(call) else [value for value in passed if types.type_of(value) in _LISTS]
        return frozenset().union(*map(self._carried, passed))

    def _makes(self, function: Node) -> bool:
        return self._know.types.named_type(function) is not Type.UNKNOWN

    def _handed(self, call: Node) -> Iterator[ArgumentFlow]:
        passed = arguments(call)
        for function in self._called(call):
            for one in self._files.of(function).handed:
                if origins := self._given(call, one.origins):
                    yield one._replace(origins=origins)
        line = call.start_point[0] + 1
        for position, value in enumerate(passed):
            for operator, argument, kind in self._arguments(call, passed, position) if self._carried(value) else ():
                yield ArgumentFlow(self._carried(value), operator, argument, kind, line)

    def _arguments(self, call: Node, passed: list[Node], position: int) -> Iterator[tuple[str, str, str]]:
        """Yield the operator with its overload, the argument and its type for each integer argument at ``position``."""
        types = self._know.types
        is_list = types.type_of(passed[position]) in _LISTS or passed[position].type == "initializer_list"
        meant = [one for one in self._meant(call, passed, position) if one[1].type.startswith(("int", "SymInt"))]
        plain = any("[" not in argument.type for _, argument in meant)
        for operator, argument in meant:
            if is_list == ("[" in argument.type) or (not is_list and not plain):
                name = f"{operator.name}.{operator.overload}" if operator.overload else operator.name
                yield name, argument.name, argument.type

    def _meant(self, call: Node, passed: list[Node], position: int) -> Iterator[tuple[OverloadSignature, Argument]]:
        """Yield the operators that a call, or the kernel that it names, may mean, and the argument at a position."""
        types = self._know.types
        for function in self._called(call):
            for kernel in self._know.api.kernels(function.name):
                if has_types(function, kernel):
                    own = kernel.parameters[position][1]
                    yield from ((kernel.operator, one) for one in kernel.operator.arguments if one.name == own)
        is_method = types.receiver(call) is not None
        for operator in types.operators(call):
            if fits(types, operator, is_method, passed, position):
                yield operator, (operator.method_arguments if is_method else operator.arguments)[position]

    def _indices(self) -> Iterator[NonSizeValues]:
        for node in every(self._function.body, "subscript_expression"):
            index = node.child_by_field_name("indices")
            for part in index.named_children if index is not None else ():
                if origins := self._carried(part) - {SIZE}:
                    yield NonSizeValues(origins, INDEX, node.start_point[0] + 1)
        for variable in self._know.model.variables(self._function):
            for value in variable.initializers:
                if self._counts(variable, value) and (origins := self._carried(value) - {SIZE}):
                    yield NonSizeValues(origins, COUNT, value.start_point[0] + 1)

    def _selected(self, call: Node) -> Iterator[NonSizeValues]:
        types = self._know.types
        line = call.start_point[0] + 1
        passed = arguments(call)
        for function in self._called(call):
            for one in self._files.of(function).selected:
                if origins := self._given(call, one.origins):
                    yield one._replace(origins=origins)
        method = types.receiver(call)
        what = ""
        wraps = _WRAPS.match(types.callee(call).rpartition("::")[2]) and not any(map(self._carried, passed[1:2]))
        if wraps or (method is not None and method[1] in _DIMENSIONS and types.is_tensor(method[0])):
            what = DIMENSION
        elif method is not None and method[1] == "insert":
            what, passed = INDEX, [] if not passed else passed[0].named_children[1:]
        elif method is not None and method[1] in ("resize", "reserve") and not types.is_tensor(method[0]):
            what = COUNT
        for value in passed[:1] if what else ():
            if origins := self._carried(value) - {SIZE}:
                yield NonSizeValues(origins, what, line)

    def _returned(self) -> Mapping[str, Origins]:
        found: dict[str, Origins] = defaultdict(frozenset)
        for node in every(self._function.body, "return_statement"):
            if self._know.model.innermost(node) is self._function and node.named_children:
                for member, origins in self._members(node.named_children[0]).items():
                    found[member] |= origins
        return found
