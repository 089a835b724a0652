"""Expressions that hold no size, whatever is passed to the functions of the file: told without settling its flow.

`Sizeless` is a bound on what `evaluation` says: where it says yes, an expression is evaluated to CONCRETE, UNKNOWN,
FOREIGN or to tensors (a `Row` to a row of these) at any time, since each form below gives such a value for such
operands, and no name begins with another. Where it says no, nothing is known. Most conditions of a file end here, so
that most functions are never settled.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property

from ..syntax.module import Module
from ..syntax.tree import Function, last_word, stored_in
from .annotations import Signature, signature
from .calls import Calls, handed
from .library import CONCRETE_CALLS, KEEPING_CALLS, SHAPES, SYMBOLIC_METHODS, is_symbolic_word
from .values import Kind

_DEEPEST = 40
_PLAIN = (Kind.CONCRETE, Kind.TENSOR, Kind.TENSORS, Kind.FOREIGN)
_UNREAD = (ast.Lambda, ast.Dict, ast.DictComp, ast.Set, ast.JoinedStr, ast.Await, ast.Yield, ast.YieldFrom)
"""What `evaluate` looks into at no time."""


class Signatures:
    """What the annotations of a file's functions say, each read once."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._known: dict[Function, Signature] = {}

    def of(self, function: Function) -> Signature:
        if function not in self._known:
            self._known[function] = signature(self._module, function)
        return self._known[function]


class Sizeless:
    """Which expressions of one file surely hold no size."""

    def __init__(self, module: Module, calls: Calls, signatures: Signatures) -> None:
        self._module = module
        self._calls = calls
        self._signatures = signatures
        self._speaks = SHAPES.rpartition(".")[2].encode() in module.source.content
        self._aliases = module.names.aliases(is_symbolic_word)
        self._bindings: dict[Function, dict[str, list[ast.expr]]] = {}
        # By function and name; without a name, what the function returns.
        self._known: dict[tuple[Function, str | None], bool] = {}
        self._assumed: set[tuple[Function, str | None]] = set()

    def expression(self, node: ast.expr, function: Function | None, depth: int = 0) -> bool:
        """Whether ``node``, which stands in the body of ``function``, holds no size."""
        if depth > _DEEPEST:
            return False
        if isinstance(node, ast.Name):
            return function is not None and self._name(function, node.id, depth)
        if isinstance(node, ast.Attribute):
            return node.attr != "shape"
        if isinstance(node, ast.Constant):
            return not isinstance(node.value, float)
        if isinstance(node, ast.Call):
            return self._call(node, function, depth)
        if isinstance(node, ast.Compare):
            return self.comparison(node, function, depth)
        if isinstance(node, ast.UnaryOp):
            return isinstance(node.op, ast.Not) or self.expression(node.operand, function, depth + 1)
        if isinstance(node, (ast.Subscript, ast.NamedExpr, ast.Starred)):
            return self.expression(node.value, function, depth + 1)
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
            return self.expression(node.elt, function, depth + 1)
        parts = _parts(node)
        if parts is None:
            return isinstance(node, _UNREAD)
        return all(self.expression(one, function, depth + 1) for one in parts)

    def comparison(self, node: ast.Compare, function: Function | None, depth: int = 0) -> bool:
        """Whether a comparison compares no sizes."""
        if any(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops):
            return True
        sides = [node.left, *node.comparators]
        if any(isinstance(side, ast.Constant) and not isinstance(side.value, (int, float)) for side in sides):
            return True
        if any(isinstance(op, (ast.In, ast.NotIn)) for op in node.ops):
            sides = sides[:1]
        return all(self._compared(side, function, depth + 1) for side in sides)

    def _compared(self, side: ast.expr, function: Function | None, depth: int) -> bool:
        number = isinstance(side, ast.Constant)  # a float is a scalar, which makes no comparison one of sizes
        return number or self.expression(side, function, depth)

    def _call(self, node: ast.Call, function: Function | None, depth: int) -> bool:
        func, last = node.func, last_word(node.func)
        if not all(self._returns(callee, depth + 1) for callee in self._calls.callees(func)):
            return False
        symbolic = last in self._aliases or is_symbolic_word(last)
        if not symbolic and not self._speaks:
            return True
        if last in SYMBOLIC_METHODS and isinstance(func, ast.Attribute):
            return False
        meaning = self._module.names.meaning(func)
        if meaning is None or meaning in CONCRETE_CALLS:
            return True
        if meaning in KEEPING_CALLS:
            return all(self.expression(one, function, depth + 1) for one in node.args)
        return not symbolic and not meaning.startswith(SHAPES)

    def _returns(self, function: Function, depth: int) -> bool:
        """Whether a function of the file returns no size."""
        said = self._signatures.of(function).returns.may
        if said not in (Kind.UNKNOWN, Kind.CONCRETE):
            return said in _PLAIN
        return self._all_along((function, None), [(function, one.value) for one in function.nodes.returns], depth)

    def _name(self, function: Function, name: str, depth: int) -> bool:
        """Whether a name of a function, or of one around it, holds no size there."""
        values = [(function, value) for value in self._bound(function).get(name, ())]
        argument = next((one for one in function.arguments if one.arg == name), None)
        if argument is not None:
            said = self._signatures.of(function).parameters[name].may
            if said is Kind.UNKNOWN:
                values += self._passed[function].get(name, ())
            elif said not in _PLAIN:
                return False
        elif function.outer is not None and not self._name(function.outer, name, depth + 1):
            return False
        return self._all_along((function, name), values, depth)

    def _all_along(
        self, key: tuple[Function, str | None], values: Sequence[tuple[Function, ast.expr | None]], depth: int
    ) -> bool:
        """Whether none of the values that something may be given holds a size.

        While that is looked for, it is taken for given: what is made of sizeless values alone is none.
        """
        if key in self._known:
            return self._known[key]
        if key in self._assumed:
            return True
        outermost = not self._assumed
        self._assumed.add(key)
        found = all(value is None or self.expression(value, home, depth + 1) for home, value in values)
        if not found:  # nor is whatever was asked about on the way, so that nobody goes by an assumption
            self._known[key] = False
        elif outermost:
            self._known.update(dict.fromkeys(self._assumed, True))
        if outermost:
            self._assumed.clear()
        return found

    @cached_property
    def _passed(self) -> dict[Function, dict[str, list[tuple[Function, ast.expr]]]]:
        """What each function may be passed, by parameter, with the functions in which the calls stand."""
        found: dict[Function, dict[str, list[tuple[Function, ast.expr]]]]
        found = defaultdict(lambda: defaultdict(list))
        for function, inside in self._calls.inside.items():
            for call, callees in inside:
                for callee in callees if call.args or call.keywords else ():
                    for name, argument in handed(call, callee):
                        found[callee][name].append((function, argument))
        return found

    def _bound(self, function: Function) -> dict[str, list[ast.expr]]:
        """By name, the expressions of whose values parts are bound to it, or put into what it holds."""
        if function not in self._bindings:
            found = self._bindings[function] = defaultdict(list)
            for node in (*function.binders, *function.nodes.every(ast.comprehension)):
                for name, value in _bindings(node):
                    found[name].append(value)
        return self._bindings[function]


def _parts(node: ast.expr) -> Sequence[ast.expr] | None:
    """The operands of which an expression holds one, or a number computed from them."""
    match node:
        case ast.BoolOp():
            return node.values
        case ast.BinOp():  # to compute with a scalar that is written there gives no size
            return [side for side in (node.left, node.right) if not isinstance(side, ast.Constant)]
        case ast.IfExp():
            return [node.body, node.orelse]
        case ast.Tuple() | ast.List():
            return node.elts
    return None


def _bindings(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """What `Scope.learn` learns of a statement, or of an expression, that binds names."""
    targets: list[ast.expr] = []
    values: list[ast.expr] = []
    match node:
        case ast.Assign():
            targets, values = node.targets, [node.value]
        case ast.NamedExpr() | ast.AnnAssign() | ast.AugAssign():
            targets, values = [node.target], [node.value] if node.value is not None else []
        case ast.For() | ast.AsyncFor() | ast.comprehension():
            targets, values = [node.target], [*_iterated(node.iter)]
        case ast.Call(func=ast.Attribute() as func) if node.args:
            targets, values = [func.value], [node.args[-1]]
    for target in targets:
        for name in _names(target):
            yield from ((name, value) for value in values)


def _iterated(iterable: ast.expr) -> Iterator[ast.expr]:
    """An iterable with what it may hand on: ``enumerate`` and ``zip`` give what their arguments hold."""
    yield iterable
    for argument in iterable.args if isinstance(iterable, ast.Call) else ():
        yield from _iterated(argument)


def _names(target: ast.expr) -> Iterator[str]:
    if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
        yield target.value.id
    elif isinstance(target, (ast.Tuple, ast.List)):
        for one in target.elts:
            yield from _names(one)
    elif isinstance(target, ast.Starred):
        yield from _names(target.value)
    else:
        yield from stored_in(target)
