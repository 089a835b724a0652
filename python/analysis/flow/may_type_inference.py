"""Kind of an expression, from the kinds of the names in it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce

from ...syntax.module import Module
from ...syntax.tree import GROWING, FunctionDefinition
from ..types.library import REDUCTIONS, of_function, of_method
from ..types.may_types import Kind, TupleKind, Value, join
from .calls import Calls
from .tensor_evidence import Evidence

_META = frozenset({"val", "example_value", "tensor_meta"})
_NO_EVIDENCE = Evidence()
Returned = Mapping[FunctionDefinition, Value]


@dataclass
class Scope:
    """Kinds of the names at one place, and results of the functions of the same file.

    It refers to the calls of the file and not to its flow, so that there is no reference cycle.
    """

    module: Module
    function: FunctionDefinition | None
    held: dict[str, Value]
    calls: Calls
    returned: Returned
    evidence: Evidence = _NO_EVIDENCE
    names_read: set[str] = field(default_factory=set)
    _stale: bool = False

    @cached_property
    def result(self) -> Value:
        """Return the kind of the function's result, by its ``return`` statements."""
        returns = self.function.nodes.returns if self.function else ()
        values = self.values([one.value for one in returns if one.value is not None])
        return reduce(join, values) if values else Kind.UNKNOWN

    def kinds(self, node: ast.expr) -> dict[ast.expr, Kind]:
        """Return the kind of an expression and, if it is a comparison, the kinds of its sides."""
        if not isinstance(node, ast.Compare) or _concrete(node):
            return {node: evaluate(node, self).kind}
        sides = {side: evaluate(side, self).kind for side in (node.left, *node.comparators)}
        return {**sides, node: _compared(node, [*sides.values()])}

    def values(self, nodes: Sequence[ast.expr]) -> list[Value]:
        """Return the kinds that the ``nodes`` may have."""
        return [evaluate(node, self) for node in nodes]

    def value(self, node: ast.expr) -> Value:
        """Return the kind that ``node`` may have."""
        return evaluate(node, self)

    def inside(self, comprehension: ast.AST) -> Scope:
        """Return the scope inside a comprehension, whose targets shadow the outer names."""
        inner = replace(self, held=dict(self.held))
        for generator in getattr(comprehension, "generators", ()):
            inner.bind(generator.target, _each(generator.iter, inner), fresh=True)
        return inner

    @classmethod
    def of(
        cls,
        module: Module,
        function: FunctionDefinition,
        held: dict[str, Value],
        calls: Calls,
        returned: Returned,
        found: Evidence,
    ) -> Scope:
        """Return a function's scope from the kinds of its parameters in ``held`` and every statement that binds a name.

        The statements are read a second time if a name was read before all of its bindings.
        """
        scope = cls(module, function, held, calls, returned, found)
        for node in function.binders:
            scope.learn(node)
        for node in function.binders if scope._stale else ():
            scope.learn(node)
        return scope

    def learn(self, node: ast.AST) -> None:
        """Learn from the assignments of a statement or a walrus."""
        if isinstance(node, ast.Assign):
            value = evaluate(node.value, self)
            for target in node.targets:
                self.bind(target, value)
        elif isinstance(node, ast.NamedExpr) or (isinstance(node, ast.AnnAssign) and node.value is not None):
            assert node.value is not None
            self.bind(node.target, evaluate(node.value, self))
        elif isinstance(node, ast.AugAssign):
            self.bind(node.target, _arithmetic(evaluate(node.target, self), evaluate(node.value, self), node.op))
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            self.bind(node.target, _each(node.iter, self))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            self._grow(node.func, node.args[-1])

    def _grow(self, func: ast.Attribute, added: ast.expr) -> None:
        """Learn that a list contains sizes if a size is appended to it."""
        if func.attr in GROWING and isinstance(func.value, ast.Name):
            value = evaluate(added, self)
            self.bind(func.value, value if func.attr == "extend" else value.kind.sequence)

    def bind(self, target: ast.expr, value: Value, fresh: bool = False) -> None:
        if isinstance(target, ast.Name):
            known = None if fresh else self.held.get(target.id)
            self._hold(target.id, value if known is None else join(known, value))
        elif isinstance(target, ast.Starred):
            self.bind(target.value, value.kind.sequence if isinstance(value, Kind) else value, fresh)
        elif isinstance(target, (ast.Tuple, ast.List)):
            starred = any(isinstance(place, ast.Starred) for place in target.elts)
            exact = isinstance(value, TupleKind) and len(value.places) == len(target.elts) and not starred
            for number, place in enumerate(target.elts):
                self.bind(
                    place, value.places[number] if exact and isinstance(value, TupleKind) else value.kind.element, fresh
                )
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            held = self.held.get(target.value.id, Kind.UNKNOWN).kind
            if value.kind.symbolic_number and held in (Kind.UNKNOWN, Kind.CONCRETE):
                self._hold(target.value.id, value.kind.sequence)

    def _hold(self, name: str, value: Value) -> None:
        if name in self.names_read and self.held.get(name, Kind.UNKNOWN) != value:
            self._stale = True
        self.held[name] = value


def evaluate(node: ast.expr, scope: Scope) -> Value:
    """Return the kind that ``node`` may have, or UNKNOWN without evidence."""
    handler = _HANDLERS.get(type(node))
    return handler(node, scope) if handler else Kind.UNKNOWN


def _name(node: ast.Name, scope: Scope) -> Value:
    scope.names_read.add(node.id)
    return scope.held.get(node.id, Kind.UNKNOWN)


def _attribute(node: ast.Attribute, scope: Scope) -> Value:
    if is_tensor(node.value, scope):
        if node.attr == "shape":
            return Kind.SIZES
        return Kind.TENSOR if node.attr in ("T", "mT", "H", "mH", "data", "grad", "real", "imag") else Kind.CONCRETE
    if node.attr in ("ndim", "dtype", "device", "layout"):
        return Kind.CONCRETE
    return Kind.UNKNOWN


def is_tensor(node: ast.expr, scope: Scope) -> bool:
    """Return whether there is evidence that the receiver of a ``.shape`` or ``.size()`` is a tensor."""
    kind = evaluate(node, scope).kind
    if kind in (Kind.TENSOR, Kind.TENSORS):
        return True
    if isinstance(node, ast.Name) and kind is Kind.UNKNOWN:
        return node.id in scope.evidence.shown or (scope.evidence.registered and node.id in _parameters(scope))
    return kind is Kind.NUMBER and isinstance(node, ast.Name)


def _parameters(scope: Scope) -> list[str]:
    return [argument.arg for argument in scope.function.arguments if not argument.annotation] if scope.function else []


def _subscript(node: ast.Subscript, scope: Scope) -> Value:
    if _is_node_metadata(node):
        return Kind.TENSOR
    value = evaluate(node.value, scope)
    if isinstance(node.slice, ast.Slice):
        return Kind.UNKNOWN if value.kind.symbolic_number else value.kind  # a number can't be sliced: it is a str here
    place = node.slice.value if isinstance(node.slice, ast.Constant) else None
    if isinstance(value, TupleKind) and isinstance(place, int) and -len(value.places) <= place < len(value.places):
        return value.places[place]
    return value.kind.element


def _is_node_metadata(node: ast.Subscript) -> bool:
    """Return whether an expression is ``node.meta["val"]`` of an FX node, which is a fake tensor."""
    named = isinstance(node.value, ast.Attribute) and node.value.attr == "meta"
    return named and isinstance(node.slice, ast.Constant) and node.slice.value in _META


def _binary(node: ast.BinOp, scope: Scope) -> Value:
    return _arithmetic(evaluate(node.left, scope), evaluate(node.right, scope), node.op)


def _arithmetic(left: Value, right: Value, op: ast.operator) -> Value:
    a, b = left.kind, right.kind
    if Kind.TENSOR in (a, b) or Kind.TENSORS in (a, b):
        return Kind.TENSORS if Kind.TENSORS in (a, b) else Kind.TENSOR
    if Kind.FOREIGN in (a, b):
        return Kind.FOREIGN
    for several in (Kind.STRIDES, Kind.SIZES):
        if several in (a, b):
            return several
    if a.symbolic_number or b.symbolic_number:
        broken = isinstance(op, ast.Div) or Kind.RATIO in (a, b) or Kind.NUMBER in (a, b)
        return Kind.RATIO if broken else Kind.STRIDE if Kind.STRIDE in (a, b) else Kind.SIZE
    if Kind.TRUTH in (a, b):
        return Kind.TRUTH
    return Kind.CONCRETE if a is b is Kind.CONCRETE else Kind.UNKNOWN


def _unary(node: ast.UnaryOp, scope: Scope) -> Value:
    value = evaluate(node.operand, scope).kind
    if isinstance(node.op, ast.Not):
        return Kind.CONCRETE  # ``not`` calls bool(), so the result is concrete
    return value


def _compare(node: ast.Compare, scope: Scope) -> Value:
    if _concrete(node):
        return Kind.CONCRETE
    return _compared(node, [evaluate(side, scope).kind for side in (node.left, *node.comparators)])


def _concrete(node: ast.Compare) -> bool:
    """Return whether the comparison can't compare sizes: it is an ``is``, or one side is a str."""
    if any(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops):
        return True
    sides = (node.left, *node.comparators)
    return any(isinstance(side, ast.Constant) and not isinstance(side.value, (int, float)) for side in sides)


def _compared(node: ast.Compare, kinds: Sequence[Kind]) -> Kind:
    if Kind.FOREIGN in kinds:
        return Kind.FOREIGN
    if any(isinstance(op, (ast.In, ast.NotIn)) for op in node.ops):
        return Kind.TRUTH if kinds[0].symbolic_number else Kind.CONCRETE
    if any(kind in (Kind.TENSOR, Kind.TENSORS) for kind in kinds):
        return Kind.UNKNOWN
    if any(kind.symbolic_number or kind.several for kind in kinds):
        return Kind.TRUTH
    return Kind.UNKNOWN if Kind.UNKNOWN in kinds or Kind.NUMBER in kinds else Kind.CONCRETE


def _all_of(nodes: Sequence[ast.expr], scope: Scope) -> Value:
    return reduce(join, scope.values(nodes))


def _if_expression(node: ast.IfExp, scope: Scope) -> Value:
    return _all_of([node.body, node.orelse], scope)


def _bool_operation(node: ast.BoolOp, scope: Scope) -> Value:
    kinds = {evaluate(value, scope).kind for value in node.values}
    if Kind.TRUTH in kinds:
        return Kind.TRUTH
    return Kind.CONCRETE if kinds == {Kind.CONCRETE} else _all_of(node.values, scope)


def _row(node: ast.Tuple | ast.List, scope: Scope) -> Value:
    places: list[Value] = []
    for place in node.elts:
        if isinstance(place, ast.Starred):
            return TupleKind(tuple(evaluate(_bare(one), scope).kind.element for one in node.elts)).kind
        places.append(evaluate(place, scope))
    row = TupleKind(tuple(places))
    return row if isinstance(node, ast.Tuple) else row.kind


def _bare(node: ast.expr) -> ast.expr:
    return node.value if isinstance(node, ast.Starred) else ast.List(elts=[node], ctx=ast.Load())


def _comprehension(node: ast.ListComp | ast.SetComp | ast.GeneratorExp, scope: Scope) -> Value:
    return evaluate(node.elt, scope.inside(node)).kind.sequence


def _each(iterable: ast.expr, scope: Scope) -> Value:
    """Return the kind that an element of ``iterable`` may have."""
    if isinstance(iterable, ast.Call):
        name = _meaning(iterable.func, scope)
        if name == "builtins.enumerate" and iterable.args:
            return TupleKind((Kind.CONCRETE, _each(iterable.args[0], scope)))
        if name == "builtins.zip":
            return TupleKind(tuple(_each(one, scope) for one in iterable.args))
        if name == "itertools.pairwise" and iterable.args:
            one = _each(iterable.args[0], scope)
            return TupleKind((one, one))
        if name == "builtins.range":
            return Kind.CONCRETE
    value = evaluate(iterable, scope)
    if isinstance(value, TupleKind) and value.places:
        return reduce(join, value.places)
    return value.kind.element


def _call(node: ast.Call, scope: Scope) -> Value:
    func = node.func
    called = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    if "hint" in called and "hint" in called.strip("_").split("_"):
        return Kind.CONCRETE  # a size hint, a plain int
    meaning = _meaning(func, scope)
    if meaning is not None and meaning.startswith("numpy."):
        return Kind.FOREIGN
    own = _returned(func, scope)
    if own is not None:
        return own
    if isinstance(func, ast.Attribute):
        if func.attr in ("dim", "ndimension", "element_size"):
            return Kind.CONCRETE
        if is_tensor(func.value, scope):
            return of_method(func.attr, bool(node.args or node.keywords))
        if func.attr in REDUCTIONS and meaning is None:
            return Kind.FOREIGN
    return of_function(meaning or "", scope.values(node.args))


def _meaning(func: ast.expr, scope: Scope) -> str | None:
    names = scope.module.names
    if scope.function is not None:  # most callees are attributes of local variables
        root = func
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name) and root.id in names.variables(scope.function):
            return None
    return names.meaning(func)


def _returned(func: ast.expr, scope: Scope) -> Value | None:
    """Return the result kind of calling ``func``, or None if the file does not define it."""
    known = [scope.returned[one] for one in scope.calls.callees(func) if one in scope.returned]
    return reduce(join, known) if known else None


def _constant(node: ast.Constant, scope: Scope) -> Value:
    return Kind.NUMBER if isinstance(node.value, float) else Kind.CONCRETE


_HANDLERS: dict[type[ast.expr], Callable[..., Value]] = {
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.IfExp: _if_expression,
    ast.BoolOp: _bool_operation,
    ast.Tuple: _row,
    ast.List: _row,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.Call: _call,
    ast.Constant: _constant,
    ast.NamedExpr: lambda node, scope: evaluate(node.value, scope),
    ast.Starred: lambda node, scope: evaluate(node.value, scope),
    ast.JoinedStr: lambda node, scope: Kind.CONCRETE,
    ast.Dict: lambda node, scope: Kind.UNKNOWN,
}
