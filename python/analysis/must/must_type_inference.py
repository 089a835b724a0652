"""Must-types of a file's expressions, from everything that binds the names in them. See `certain`."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence, Set
from functools import lru_cache
from typing import Any

from ...syntax.module import Module
from ...syntax.tree import FunctionDefinition, FunctionNode, literal
from ..flow.flow import flow
from ..types.annotations import Annotation
from ..types.library import SHAPES
from ..types.may_types import Kind
from ..types.must_types import Certain, ScalarType, SequenceType, arithmetic, comparable, row, same
from ..types.results import BY_PLACE, OF_ATTRIBUTES, OF_FUNCTIONS, OF_METHODS, of_torch
from .aliasing import changed_elsewhere

_PASSES = 6
"""Limit on the passes over a function's bindings. A name that still changes after the last one is unknown."""
_SMALLEST = frozenset({"builtins.min", "builtins.max", "torch.sym_min", "torch.sym_max"})
_PRODUCTS = frozenset({"builtins.sum", "math.prod"})
_SEQUENCES = {"builtins.list": True, "builtins.sorted": True, "builtins.tuple": False}
_DTYPE = re.compile(r"u?int\d+|b?float\d+|complex\d+|bool|half|float|double|short|int|long|strided|sparse_\w+")
_IS = (ast.Is, ast.IsNot)
_LIKE_TENSORS = (ScalarType.TENSOR, ScalarType.TREATED)
_ORDERED = (ScalarType.WHOLE, ScalarType.FLOAT, ScalarType.NUMBER, ScalarType.TRUTH)


class _Unseen(Exception):
    """Error for a name that is read before any of its bindings was examined."""


class MustTypes:
    """The must-types of one module's expressions."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.flow = flow(module)
        self._names: dict[FunctionNode, dict[str, Certain | None]] = {}
        self._settling: list[FunctionNode] = []
        self._values: dict[ast.expr, Certain | None] = {}

    def of(self, node: ast.expr) -> Certain | None:
        """Return the must-type of ``node``, or None if it is unknown."""
        if node in self._values:
            return self._values[node]
        handler = _HANDLERS.get(type(node))
        value = handler(self, node) if handler else None
        if not self._settling:
            self._values[node] = value
        return value

    def whole(self, node: ast.expr) -> bool:
        """Return whether ``node`` is certainly an int or SymInt."""
        return self.of(node) is ScalarType.WHOLE

    def compares(self, node: ast.Compare) -> bool:
        """Return whether each comparison that ``node`` makes always returns a bool or SymBool and never raises."""
        sides = [node.left, *node.comparators]
        pairs = [(op, a, b) for op, a, b in zip(node.ops, sides, sides[1:], strict=False) if not isinstance(op, _IS)]
        return all(comparable(op, self.of(a), self.of(b)) for op, a, b in pairs)

    def orders_no_numbers(self, node: ast.Compare) -> bool:
        """Return whether ``<`` or the like compares a value that is no number, or may be None. It raises TypeError."""
        sides = [node.left, *node.comparators]
        pairs = zip(node.ops, sides, sides[1:], strict=False)
        ordered = [(a, b) for op, a, b in pairs if isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE))]
        return any(self.of(one) not in (None, *_ORDERED) for pair in ordered for one in pair)

    def tensor(self, node: ast.expr) -> bool:
        """Return whether the attributes and methods of ``node`` that tensors have behave as a tensor's."""
        sure = self.of(node)
        return sure in _LIKE_TENSORS or (sure is ScalarType.OPTIONAL and self.flow.kind(node) is Kind.TENSOR)

    # Types of names

    def _name(self, node: ast.Name) -> Certain | None:
        owner = self.module.names.owner(node.id, node)
        if owner is self.module.tree:
            constant = self.module.names.assigned_at_top.get(node.id)
            return self.of(constant) if isinstance(constant, ast.Constant) else None
        if isinstance(owner, (ast.FunctionDef, ast.AsyncFunctionDef)):
            held = self._held_in(owner)
            if node.id not in held and owner in self._settling:
                raise _Unseen
            return held.get(node.id)
        for generator in getattr(owner, "generators", ()):
            for name, value in self._unpacked(generator.target, self._each(generator.iter)):
                if name == node.id:
                    return value
        return None

    def _held_in(self, owner: FunctionNode) -> dict[str, Certain | None]:
        """Return the must-types of a function's names, computed to a fixpoint: the type on which all bindings agree."""
        if owner in self._names:
            return self._names[owner]
        held = self._names[owner] = {}
        function = next(one for one in self.module.functions if one.node is owner)
        self._settling.append(owner)
        self._settle(function, held, frozenset())
        lists = {name for name, one in held.items() if _without_elements(one) != one}
        changed = changed_elsewhere(self.module, function, lists) if lists else set()
        if changed:
            self._settle(function, held, changed)
        self._settling.pop()
        return held

    def _settle(self, function: FunctionDefinition, held: dict[str, Certain | None], changed: Set[str]) -> None:
        """Compute the types of the names. Lists that are ``changed`` elsewhere have no element types."""
        held.clear()
        signature = self.flow.signature(function)
        for argument in function.arguments:
            value = self._parameter(function, argument, signature.parameters[argument.arg])
            held[argument.arg] = _without_elements(value) if argument.arg in changed else value
        held.update(dict.fromkeys(self._bound_by_other_means(function)))
        for _ in range(_PASSES):
            before = dict(held)
            unseen = [node for node in function.binders if not self._learn(node, held, changed)]
            if before == held:
                break
        else:
            held.update({name: None for name in held if before.get(name) != held[name]})
        for node in unseen:
            held.update(dict.fromkeys(one.id for one in ast.walk(node) if isinstance(one, ast.Name)))

    def _learn(self, node: ast.AST, held: dict[str, Certain | None], changed: Set[str]) -> bool:
        """Learn from a binding. Return False if it depends on a name that is not bound yet."""
        try:
            learned = list(self._bindings(node))
        except _Unseen:
            return False
        for name, found in learned:
            value = _without_elements(found) if name in changed else found
            held[name] = value if name not in held else same([held[name], value])
        return True

    def _bindings(self, node: ast.AST) -> Iterator[tuple[str, Certain | None]]:
        if isinstance(node, ast.Assign):
            value = self.of(node.value)
            for target in node.targets:
                yield from self._unpacked(target, value)
        elif isinstance(node, (ast.NamedExpr, ast.AnnAssign)) and node.value is not None:
            yield from self._unpacked(node.target, self.of(node.value))
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            yield node.target.id, arithmetic(node.op, self._name(node.target), self.of(node.value))
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            yield from self._unpacked(node.target, self._each(node.iter))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield from self._grown(node, node.func)

    def _grown(self, call: ast.Call, func: ast.Attribute) -> Iterator[tuple[str, Certain | None]]:
        grown = self._name(func.value) if isinstance(func.value, ast.Name) and call.args else None
        if isinstance(func.value, ast.Name) and (grown is ScalarType.TENSORS or isinstance(grown, SequenceType)):
            added = self._each(call.args[-1]) if func.attr == "extend" else self.of(call.args[-1])
            yield func.value.id, SequenceType(True, added) if isinstance(grown, SequenceType) else _tensors_with(added)

    def _unpacked(self, target: ast.expr, value: Certain | None) -> Iterator[tuple[str, Certain | None]]:
        if isinstance(target, ast.Name):
            yield target.id, value
        elif isinstance(target, ast.Starred):
            yield from self._unpacked(target.value, SequenceType(True, _element(value)))
        elif isinstance(target, (ast.Tuple, ast.List)):
            places = value.places if isinstance(value, SequenceType) else None
            exact = places is not None and len(places) == len(target.elts)
            exact = exact and not any(isinstance(one, ast.Starred) for one in target.elts)
            for number, one in enumerate(target.elts):
                inner = places[number] if exact and places is not None else None
                if not exact:
                    inner = value if isinstance(one, ast.Starred) else _element(value)
                yield from self._unpacked(one, inner)
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            held, put = self._name(target.value), _element(value) if isinstance(target.slice, ast.Slice) else value
            if isinstance(held, SequenceType):
                yield target.value.id, SequenceType(held.listed, None if isinstance(target.slice, ast.Slice) else value)
            else:
                yield target.value.id, _tensors_with(put) if held is ScalarType.TENSORS else held

    def _parameter(self, function: FunctionDefinition, argument: ast.arg, said: Annotation) -> Certain | None:
        spec = function.node.args
        value = said.believed
        if argument.annotation is None and argument.arg in self.flow.evidence(function).shown:
            value = ScalarType.TREATED
        if argument is spec.vararg:
            return SequenceType(False, value)
        if argument is spec.kwarg:
            return None
        places = [*spec.posonlyargs, *spec.args]
        defaults = dict(zip(reversed(places), reversed(spec.defaults), strict=False))
        defaults.update({place: one for place, one in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if one})
        default = defaults.get(argument)
        return ScalarType.OPTIONAL if isinstance(default, ast.Constant) and default.value is None else value

    def _bound_by_other_means(self, function: FunctionDefinition) -> set[str]:
        """Return the names that are not only bound by assignments, loops and parameters. Their types are unknown."""
        rebound = function.bound & self.module.names.scopes.rebound_outer
        return {*function.nodes.named, *function.imports, *function.bound_by_with, *rebound}

    def _each(self, iterable: ast.expr) -> Certain | None:
        """Return the must-type of an element of ``iterable``."""
        if isinstance(iterable, ast.Call) and not iterable.keywords:
            meaning = self.module.names.meaning(iterable.func)
            if meaning == "builtins.range":
                return ScalarType.WHOLE
            if meaning == "builtins.enumerate" and len(iterable.args) == 1:
                return row((ScalarType.WHOLE, self._each(iterable.args[0])), False)
            if meaning == "builtins.zip" and not any(isinstance(one, ast.Starred) for one in iterable.args):
                return row([self._each(one) for one in iterable.args], False)
            if meaning in ("builtins.reversed", "builtins.iter") and len(iterable.args) == 1:
                return self._each(iterable.args[0])
        if isinstance(iterable, (ast.GeneratorExp, ast.ListComp, ast.SetComp)):
            return self.of(iterable.elt)
        return _element(self.of(iterable))

    # Types of expressions

    def _constant(self, node: ast.Constant) -> Certain | None:
        if node.value is None:
            return ScalarType.NOTHING
        kinds = {
            bool: ScalarType.TRUTH,
            int: ScalarType.WHOLE,
            float: ScalarType.FLOAT,
            complex: ScalarType.NUMBER,
            str: ScalarType.TEXT,
        }
        return kinds.get(type(node.value))

    def _attribute(self, node: ast.Attribute) -> Certain | None:
        known = OF_ATTRIBUTES.get(node.attr)
        if known is not None and self.tensor(node.value):
            return self._as_sure(node.value, known) if known is ScalarType.TENSOR else known
        home, _, name = (self.module.names.meaning(node) or "").rpartition(".")
        return ScalarType.PLAIN if home == "torch" and _DTYPE.fullmatch(name) else None

    def _subscript(self, node: ast.Subscript) -> Certain | None:
        value = self.of(node.value)
        if not isinstance(value, SequenceType):
            return value if isinstance(node.slice, ast.Slice) and value is ScalarType.TENSORS else _element(value)
        if isinstance(node.slice, ast.Slice):
            return SequenceType(value.listed, value.element)
        place = literal(node.slice) if value.places is not None else None
        if value.places is not None and place is not None and -len(value.places) <= place < len(value.places):
            return value.places[place]
        return value.element if self.whole(node.slice) else None

    def _binary(self, node: ast.BinOp) -> Certain | None:
        # Long sums nest on the left. A loop avoids exceeding the recursion limit.
        spine: list[ast.BinOp] = []
        left: ast.expr = node
        while isinstance(left, ast.BinOp):
            spine.append(left)
            left = left.left
        value = self.of(left)
        for one in reversed(spine):
            value = arithmetic(one.op, value, self.of(one.right))
        return value

    def _unary(self, node: ast.UnaryOp) -> Certain | None:
        if isinstance(node.op, ast.Not):
            return ScalarType.TRUTH
        value = self.of(node.operand)
        kept = (ScalarType.WHOLE, *_LIKE_TENSORS, *(() if isinstance(node.op, ast.Invert) else (ScalarType.FLOAT,)))
        return value if value in kept else None

    def _compare(self, node: ast.Compare) -> Certain | None:
        sure = (isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in node.ops)
        return ScalarType.TRUTH if all(sure) or self.compares(node) else None

    def _of_all(self, nodes: Sequence[ast.expr]) -> Certain | None:
        return same([self.of(one) for one in nodes])

    def _row(self, node: ast.Tuple | ast.List) -> Certain | None:
        listed = isinstance(node, ast.List)
        if not any(isinstance(one, ast.Starred) for one in node.elts):
            return row([self.of(one) for one in node.elts], listed)
        inner = [self._each(one.value) if isinstance(one, ast.Starred) else self.of(one) for one in node.elts]
        return SequenceType(listed, same(inner))

    def _call(self, node: ast.Call) -> Certain | None:
        if isinstance(node.func, ast.Attribute) and self.tensor(node.func.value):
            return self._method(node, node.func)
        if isinstance(node.func, ast.Attribute) and self.of(node.func.value) is ScalarType.TEXT:
            return (
                ScalarType.TEXT if node.func.attr in ("format", "join", "strip", "lower", "upper", "replace") else None
            )
        meaning = self.module.names.meaning(node.func)
        if meaning is None:
            return self._own_function(node.func)
        if meaning in OF_FUNCTIONS:
            return OF_FUNCTIONS[meaning]
        if meaning in _SEQUENCES and len(node.args) == 1:
            return SequenceType(_SEQUENCES[meaning], self._each(node.args[0]))
        return self._of_arguments(node, meaning)

    def _of_arguments(self, node: ast.Call, meaning: str) -> Certain | None:
        """Return the must-type of a function's result that follows from its arguments."""
        if meaning.startswith("torch.") and self.flow.kind(node) is Kind.TENSOR:
            return _given_by_torch(meaning.removeprefix("torch."), node, 0)
        if node.keywords or any(isinstance(one, ast.Starred) for one in node.args):
            return None
        if meaning in _SMALLEST and len(node.args) > 1:
            return self._of_all(node.args)
        if meaning in (*_PRODUCTS, *_SMALLEST) and len(node.args) == 1:
            return ScalarType.WHOLE if self._each(node.args[0]) is ScalarType.WHOLE else None
        if meaning == "builtins.abs" and len(node.args) == 1:
            value = self.of(node.args[0])
            return value if value in (ScalarType.WHOLE, ScalarType.FLOAT) else None
        if meaning in (f"{SHAPES}.sym_and", f"{SHAPES}.sym_or"):
            return ScalarType.TRUTH if self._of_all(node.args) is ScalarType.TRUTH else None
        return None

    def _method(self, node: ast.Call, func: ast.Attribute) -> Certain | None:
        name = func.attr
        if name in OF_METHODS:
            return OF_METHODS[name]
        if name in BY_PLACE:
            if not node.args and not node.keywords:
                return SequenceType(False, ScalarType.WHOLE)
            return (
                ScalarType.WHOLE if node.args and self.whole(node.args[0]) else None
            )  # ``x.size(None)`` returns all sizes
        return self._as_sure(func.value, _given_by_torch(name, node, 1))

    def _as_sure(self, receiver: ast.expr, given: Certain | None) -> Certain | None:
        """Return ``given``, weakened if the receiver is only treated as a tensor."""
        return given if given is None or self.of(receiver) is ScalarType.TENSOR else ScalarType.TREATED

    def _own_function(self, func: ast.expr) -> Certain | None:
        made = self.module.names.defined_at_top.get(func.id) if isinstance(func, ast.Name) else None
        if made is None or self.module.names.owner(made.node.name, func) is not self.module.tree:
            return None
        plain = isinstance(made.node, ast.FunctionDef) and not made.node.decorator_list
        return self.flow.signature(made).returns.believed if plain else None


def _given_by_torch(name: str, node: ast.Call, receivers: int) -> Certain | None:
    """Return the result type of a function or a method of torch."""
    starred = any(isinstance(one, ast.Starred) for one in node.args)
    return of_torch(name, len(node.args) + receivers, named=starred or bool(node.keywords))


def _without_elements(value: Certain | None) -> Certain | None:
    """Return the type of a list without its element types. Return other types unchanged."""
    if isinstance(value, SequenceType) and value.listed is not False:
        return SequenceType(value.listed, None)
    return None if value is ScalarType.TENSORS else value


def _tensors_with(added: Certain | None) -> Certain | None:
    """Return the type of several tensors after a value is added to them."""
    return ScalarType.TENSORS if added is ScalarType.TENSOR else None


def _element(value: Certain | None) -> Certain | None:
    """Return the must-type of each element of a value."""
    if isinstance(value, SequenceType):
        return value.element
    return ScalarType.TENSOR if value is ScalarType.TENSORS else value if value in _LIKE_TENSORS else None


_HANDLERS: dict[type[ast.expr], Callable[[MustTypes, Any], Certain | None]] = {
    ast.Name: MustTypes._name,
    ast.Constant: MustTypes._constant,
    ast.Attribute: MustTypes._attribute,
    ast.Subscript: MustTypes._subscript,
    ast.BinOp: MustTypes._binary,
    ast.UnaryOp: MustTypes._unary,
    ast.Compare: MustTypes._compare,
    ast.BoolOp: lambda surely, node: surely._of_all(node.values),
    ast.IfExp: lambda surely, node: surely._of_all((node.body, node.orelse)),
    ast.NamedExpr: lambda surely, node: surely.of(node.value),
    ast.JoinedStr: lambda surely, node: ScalarType.TEXT,
    ast.Tuple: MustTypes._row,
    ast.List: MustTypes._row,
    ast.ListComp: lambda surely, node: SequenceType(True, surely.of(node.elt)),
    ast.Call: MustTypes._call,
}


@lru_cache(maxsize=8)
def surely(module: Module) -> MustTypes:
    """Return the must-types of a file, shared by the rules that read it."""
    return MustTypes(module)
