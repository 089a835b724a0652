"""Kinds of the names in each function. Values are propagated through the calls inside one file."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ...syntax.module import Module
from ...syntax.tree import COMPREHENSIONS, FunctionDefinition
from ..types.annotations import AnnotatedSignature, signature
from ..types.may_types import Kind, Value, join
from .calls import calls_in, sizes_reach
from .may_type_inference import Scope
from .tensor_evidence import Evidence, evidence

_ROUNDS = 6


@dataclass(frozen=True)
class Comparison:
    """The kinds of the first two sides of a comparison."""

    left: Kind
    right: Kind
    of_shapes: bool
    """True if two shapes or strides are tested for equality."""


@dataclass(frozen=True)
class _Reading:
    """Result of reading a function once. It is valid as long as the inputs are the same."""

    held: dict[str, Value]
    """Kinds of the parameters and of the names of the outer functions."""
    returned: list[Value | None]
    """Return kinds of the functions that it calls."""
    scope: Scope
    returns: Value
    passes: list[tuple[FunctionDefinition, str, Value]]
    """Values that it passes, with the function and the parameter that receive them."""


class Flow:
    """Scopes of a module's functions, computed to a fixpoint: parameters hold the arguments of the file's own calls.

    Functions that pass sizes to each other are computed together, at the first lookup of one of them.
    """

    def __init__(self, module: Module) -> None:
        self.module = module
        self._calls = calls_in(module)
        self._returned: dict[FunctionDefinition, Value] = {}
        self._inner: dict[FunctionDefinition, list[FunctionDefinition]] = defaultdict(list)
        for function in module.functions:
            if function.outer:
                self._inner[function.outer].append(function)
        self._evidence: dict[FunctionDefinition, Evidence] = {}
        self._signatures: dict[FunctionDefinition, AnnotatedSignature] = {}
        self._passed: dict[FunctionDefinition, dict[str, Value]] = defaultdict(dict)
        self._scopes: dict[FunctionDefinition, Scope] = {}
        self._readings: dict[FunctionDefinition, _Reading] = {}
        self.reached = self._calls.reached
        """Functions that may contain sizes, each with the functions that are connected to it by calls or nesting."""
        self._kinds: dict[ast.expr, Kind] = {}
        self._told: set[ast.AST] = set()

    def scope_of(self, node: ast.AST) -> Scope:
        """Return the scope at a node, with the targets of the comprehensions around it."""
        place = self.module.place(node)
        for function in [place.function] if place.function else self._called([node, *place.of_expression][-1]):
            if function in self.reached and function not in self._scopes:
                self._settle(self.reached[function])
        scope = self._scopes.get(place.function) if place.function else None
        if scope is None:
            scope = Scope(self.module, place.function, {}, self._calls, self._returned)
        for above in reversed(place.of_expression):
            if isinstance(above, COMPREHENSIONS):
                scope = scope.inside(above)
        return scope

    def kind(self, node: ast.expr) -> Kind:
        """Return the kind of an expression."""
        if node not in self._kinds:
            self._kinds.update(self.scope_of(node).kinds(node))
        return self._kinds[node]

    def comparison(self, node: ast.Compare) -> Comparison:
        """Return the kinds that a comparison compares."""
        left, right = self.kind(node.left), self.kind(node.comparators[0])
        equality = len(node.ops) == 1 and isinstance(node.ops[0], (ast.Eq, ast.NotEq))
        return Comparison(left, right, equality and (left.several or right.several))

    def signature(self, function: FunctionDefinition) -> AnnotatedSignature:
        """Return the annotated types of a function, computed once."""
        if function not in self._signatures:
            self._signatures[function] = signature(self.module, function)
        return self._signatures[function]

    def evidence(self, function: FunctionDefinition) -> Evidence:
        """Return the evidence for tensors in the text of a function, computed once."""
        if function not in self._evidence:
            self._evidence[function] = evidence(self.module, function)
        return self._evidence[function]

    def _called(self, outside: ast.AST) -> Iterator[FunctionDefinition]:
        """Yield the functions of the file that an expression outside of all functions may call, only the first time."""
        if outside in self._told:
            return
        self._told.add(outside)
        for call in ast.walk(outside):
            if isinstance(call, ast.Call):
                yield from self._calls.callees(call.func)

    def _settle(self, together: list[FunctionDefinition]) -> None:
        pending = together
        callers: dict[str, set[FunctionDefinition]] = defaultdict(set)
        for _ in range(_ROUNDS):
            again: set[FunctionDefinition] = set()
            for function in pending:
                before = self._returned.get(function)
                reading = self._read(function)
                if before != reading.returns:
                    again |= callers[function.node.name]
                if before is None:
                    again |= set(self._inner[function])
                    for _, callees in self._calls.inside[function]:
                        for callee in callees:
                            callers[callee.node.name].add(function)
                for callee, name, value in reading.passes:
                    if self._learn(callee, name, value):
                        again.add(callee)
            if not again:
                return
            pending = [function for function in together if function in again]

    def _read(self, function: FunctionDefinition) -> _Reading:
        """Read the function, unless its inputs are the same as the last time."""
        held = self._held(function)
        inside = self._calls.inside[function]
        returned = [self._returned.get(callee) for _, callees in inside for callee in callees]
        last = self._readings.get(function)
        if last is not None and last.held == held and last.returned == returned:
            return last
        scope = Scope.of(self.module, function, dict(held), self._calls, self._returned, self.evidence(function))
        self._scopes[function] = scope
        returns = self._returned[function] = self._return_value(function, scope)
        passes = [one for call, callees in inside for one in self._passes(call, callees, scope)]
        reading = self._readings[function] = _Reading(held, returned, scope, returns, passes)
        return reading

    def _held(self, function: FunctionDefinition) -> dict[str, Value]:
        """Return the kinds of a function's names before it begins."""
        shown = self.evidence(function).shown
        said, passed = self.signature(function).parameters, self._passed[function]
        held = dict(self._scopes[function.outer].held) if function.outer in self._scopes else {}
        for argument in function.arguments:
            name = argument.arg
            value = said[name].may
            if value is Kind.UNKNOWN and argument.annotation is None and name in shown:
                value = Kind.TENSOR
            elif value is Kind.UNKNOWN and name in passed:
                value = passed[name]
            held[name] = value
        return held

    def _return_value(self, function: FunctionDefinition, scope: Scope) -> Value:
        declared = self.signature(function).returns.may
        if declared is not Kind.UNKNOWN and declared.kind is not Kind.CONCRETE:
            return declared
        return scope.result

    def _passes(
        self, call: ast.Call, callees: Sequence[FunctionDefinition], scope: Scope
    ) -> Iterator[tuple[FunctionDefinition, str, Value]]:
        """Yield the arguments that a call passes to each function that it may call."""
        if not call.args and not call.keywords:
            return
        values: dict[ast.expr, Value] = {}
        for callee in callees:
            for name, argument in sizes_reach(call, callee):
                if argument not in values:
                    values[argument] = scope.value(argument)
                yield callee, name, values[argument]

    def _learn(self, callee: FunctionDefinition, name: str, value: Value) -> bool:
        known = self._passed[callee]
        merged = value if name not in known else join(known[name], value)
        if known.get(name) == merged or (name not in known and merged is Kind.UNKNOWN):
            return False
        known[name] = merged
        return True


@lru_cache(maxsize=8)
def flow(module: Module) -> Flow:
    """Return the flow of a file, shared by the rules that read it.

    It is cached by module, not by text: two trees of the same text have different nodes.
    """
    return Flow(module)
