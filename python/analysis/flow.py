"""What the names of each function may hold. Values are followed through the calls inside one file."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

from ..syntax.module import Module
from ..syntax.tree import COMPREHENSIONS, Function
from .annotations import Signature, signature
from .calls import Calls
from .evaluation import Scope
from .receivers import Evidence, evidence
from .values import Kind, Value, join

_ROUNDS = 6


@dataclass(frozen=True)
class Comparison:
    """The kinds of the first two sides of a comparison."""

    left: Kind
    right: Kind
    of_shapes: bool
    """Two shapes (or strides) are tested for equality."""


class Flow:
    """The scopes of a module's functions, computed to a fixpoint: parameters hold what the file's own calls pass.

    Functions that sizes pass between are settled together, when one of them is asked about.
    """

    def __init__(self, module: Module) -> None:
        self.module = module
        self._calls = Calls(module)
        self._returned: dict[Function, Value] = {}
        self._inner: dict[Function, list[Function]] = defaultdict(list)
        for function in module.functions:
            if function.outer:
                self._inner[function.outer].append(function)
        self._evidence: dict[Function, Evidence] = {}
        self._signatures: dict[Function, Signature] = {}
        self._passed: dict[Function, dict[str, Value]] = defaultdict(dict)
        self._scopes: dict[Function, Scope] = {}
        self.reached = self._calls.reached
        """The functions in which anything may be a size, each with those that sizes pass to and from."""
        self._kinds: dict[ast.expr, Kind] = {}
        self._told: set[ast.AST] = set()

    def scope_of(self, node: ast.AST) -> Scope:
        """The scope at a node, with the targets of the comprehensions around it."""
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
        """The kind of an expression."""
        if node not in self._kinds:
            self._kinds.update(self.scope_of(node).kinds(node))
        return self._kinds[node]

    def comparison(self, node: ast.Compare) -> Comparison:
        """What a comparison compares."""
        left, right = self.kind(node.left), self.kind(node.comparators[0])
        equality = len(node.ops) == 1 and isinstance(node.ops[0], (ast.Eq, ast.NotEq))
        return Comparison(left, right, equality and (left.several or right.several))

    def signature(self, function: Function) -> Signature:
        """What the annotations of a function say, read once."""
        if function not in self._signatures:
            self._signatures[function] = signature(self.module, function)
        return self._signatures[function]

    def _called(self, outside: ast.AST) -> Iterator[Function]:
        """The functions of the file that an expression outside of all functions may call, told once."""
        if outside in self._told:
            return
        self._told.add(outside)
        for call in ast.walk(outside):
            if isinstance(call, ast.Call):
                yield from self._calls.callees(call.func)

    def _settle(self, together: list[Function]) -> None:
        pending = together
        callers: dict[str, set[Function]] = defaultdict(set)
        for _ in range(_ROUNDS):
            again: set[Function] = set()
            for function in pending:
                scope = self._scope(function)
                self._scopes[function] = scope
                before = self._returned.get(function)
                returned = self._returned[function] = self._return_value(function, scope)
                if before != returned:
                    again |= callers[function.node.name]
                for call, callees in self._calls.inside[function]:
                    for callee in callees:
                        callers[callee.node.name].add(function)
                        if self._pass(call, callee, scope):
                            again.add(callee)
                again |= set(self._inner[function]) if before is None else set()
            if not again:
                return
            pending = [function for function in together if function in again]

    def _scope(self, function: Function) -> Scope:
        if function not in self._evidence:
            self._evidence[function] = evidence(self.module, function)
        found = self._evidence[function]
        held = dict(self._scopes[function.outer].held) if function.outer in self._scopes else {}
        for argument in function.arguments:
            value = self.signature(function).parameters[argument.arg].may
            passed = self._passed[function].get(argument.arg)
            if value is Kind.UNKNOWN and argument.annotation is None and argument.arg in found.shown:
                value = Kind.TENSOR
            elif value is Kind.UNKNOWN and passed is not None:
                value = passed
            held[argument.arg] = value
        return Scope.of(self.module, function, held, self._calls, self._returned, found)

    def _return_value(self, function: Function, scope: Scope) -> Value:
        declared = self.signature(function).returns.may
        if declared is not Kind.UNKNOWN and declared.kind is not Kind.CONCRETE:
            return declared
        return scope.result

    def _pass(self, call: ast.Call, callee: Function, scope: Scope) -> bool:
        """Pass the kinds of the arguments to the callee; True when they change anything."""
        spec = callee.node.args
        places = [*spec.posonlyargs, *spec.args]
        if callee.owner and places and places[0].arg in ("self", "cls"):
            places = places[1:]
        plain = list(takewhile(lambda one: not isinstance(one, ast.Starred), call.args))
        told = [(place.arg, argument) for place, argument in zip(places, plain, strict=False)]
        told += [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg]
        changed = False
        for (name, _), value in zip(told, scope.values([value for _, value in told]), strict=True):
            changed |= self._learn(callee, name, value)
        return changed

    def _learn(self, callee: Function, name: str, value: Value) -> bool:
        known = self._passed[callee]
        merged = value if name not in known else join(known[name], value)
        if known.get(name) == merged or (name not in known and merged is Kind.UNKNOWN):
            return False
        known[name] = merged
        return True


@lru_cache(maxsize=8)
def flow(module: Module) -> Flow:
    """The flow of a file, shared by the rules that look at it.

    It is cached by module, not by text: two trees of the same text have different nodes.
    """
    return Flow(module)
