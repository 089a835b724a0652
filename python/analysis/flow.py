"""What the names of each function may hold, followed through the calls inside one file."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import lru_cache

from ..syntax.module import Module
from ..syntax.tree import Function
from .annotations import may_hold
from .evaluation import Results, Scope, evaluate
from .reach import reached
from .receivers import imports_torch, runs_on_tensors, shown_to_be_tensors
from .values import Kind, Value, join

_ROUNDS = 6


class Flow:
    """The scopes of a module's functions, at rest: parameters know what the file's own calls pass them."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self._torch = imports_torch(module)
        self._results = Results(module.functions)
        self._inner: dict[Function, list[Function]] = defaultdict(list)
        for function in module.functions:
            if function.outer:
                self._inner[function.outer].append(function)
        self._called: dict[Function, list[tuple[ast.Call, list[Function]]]] = {}
        self._shown: dict[Function, frozenset[str]] = {}
        self._passed: dict[Function, dict[str, Value]] = defaultdict(dict)
        self._scopes: dict[Function, Scope] = {}
        self._annotated: dict[ast.expr, Value] = {}
        calls = {function: [one for _, many in self._calls(function) for one in many] for function in module.functions}
        self.reached = reached(module, calls)
        """The functions in which anything may be a size."""
        self._settle()
        self._values: dict[ast.expr, Value] = {}

    def scope_of(self, node: ast.AST) -> Scope:
        """The names visible at a node, targets of the comprehensions around it included."""
        function = self.module.place(node).function
        scope = self._scopes.get(function) if function else None
        if scope is None:
            scope = Scope(self.module, function, {}, self._results)
        for comprehension in reversed(self.module.place(node).comprehensions):
            scope = scope.inside(comprehension)
        return scope

    def value(self, node: ast.expr) -> Value:
        if node not in self._values:
            self._values[node] = evaluate(node, self.scope_of(node))
        return self._values[node]

    def kind(self, node: ast.expr) -> Kind:
        return self.value(node).kind

    def _settle(self) -> None:
        pending = [function for function in self.module.functions if function in self.reached]
        callers: dict[str, set[Function]] = defaultdict(set)
        for _ in range(_ROUNDS):
            again: set[Function] = set()
            for function in pending:
                scope = self._scope(function)
                self._scopes[function] = scope
                before = self._results.returned.get(function)
                returned = self._results.returned[function] = self._return_value(function, scope)
                if before != returned:
                    again |= callers[function.node.name]
                for call, callees in self._calls(function):
                    for callee in callees:
                        callers[callee.node.name].add(function)
                        if self._pass(call, callee, scope):
                            again.add(callee)
                again |= set(self._inner[function]) if before is None else set()
            if not again:
                return
            pending = [function for function in self.module.functions if function in again & self.reached]

    def _calls(self, function: Function) -> list[tuple[ast.Call, list[Function]]]:
        """The calls inside a function of what the file defines."""
        if function not in self._called:
            found = [(call, self._results.callees(call.func)) for call in function.nodes.calls]
            self._called[function] = [(call, callees) for call, callees in found if callees]
        return self._called[function]

    def _scope(self, function: Function) -> Scope:
        outer = self._scopes[function.outer].names if function.outer in self._scopes else {}
        names: dict[str, Value] = dict(outer)
        if function not in self._shown:
            self._shown[function] = shown_to_be_tensors(function) if self._torch else frozenset()
        shown = self._shown[function]
        registered = runs_on_tensors(function)
        for argument in function.arguments:
            value = self._said(argument.annotation)
            passed = self._passed[function].get(argument.arg)
            if value is Kind.UNKNOWN and argument.annotation is None and argument.arg in shown:
                value = Kind.TENSOR
            elif value is Kind.UNKNOWN and passed is not None:
                value = passed
            names[argument.arg] = value
        scope = Scope(self.module, function, names, self._results, shown, registered and self._torch)
        scope.learn_all(function.binders)
        return scope

    def _said(self, annotation: ast.expr | None) -> Value:
        """What an annotation says, read once: a function is looked at again whenever its callers tell something new."""
        if annotation is None:
            return Kind.UNKNOWN
        if annotation not in self._annotated:
            self._annotated[annotation] = may_hold(self.module, annotation)
        return self._annotated[annotation]

    def _return_value(self, function: Function, scope: Scope) -> Value:
        declared = self._said(function.node.returns)
        if declared is not Kind.UNKNOWN and declared.kind is not Kind.CONCRETE:
            return declared
        result: Value | None = None
        for node in function.nodes.returns:
            if node.value is not None:
                value = evaluate(node.value, scope)
                result = value if result is None else join(result, value)
        return Kind.UNKNOWN if result is None else result

    def _pass(self, call: ast.Call, callee: Function, scope: Scope) -> bool:
        """Tell the callee what it gets; True when that is news."""
        spec = callee.node.args
        places = [*spec.posonlyargs, *spec.args]
        if callee.owner and places and places[0].arg in ("self", "cls"):
            places = places[1:]
        changed = False
        for place, argument in zip(places, call.args, strict=False):
            if isinstance(argument, ast.Starred):
                break
            changed |= self._learn(callee, place.arg, evaluate(argument, scope))
        for keyword in call.keywords:
            if keyword.arg:
                changed |= self._learn(callee, keyword.arg, evaluate(keyword.value, scope))
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

    By the parsed module and not by its text: the nodes of two trees of one text are different nodes.
    """
    return Flow(module)
