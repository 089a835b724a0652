"""Expressions that are always evaluated, and conditions that always hold, before a statement runs."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from ...syntax.module import Module
from ...syntax.tree import FunctionDefinition, literal, stored_in
from .definite_assignment import binds

_CONDITION_FIRST = frozenset({"_check", "_check_value", "_check_index", "_check_type", "_check_not_implemented"})
TENSOR_METHODS = frozenset(
    {"size", "stride", "dim", "ndimension", "numel", "nelement", "element_size", "storage_offset", "sym_size"}
    | {"sym_stride", "sym_numel", "sym_storage_offset", "is_floating_point", "is_complex"}
)
"""Methods of tensors that arrays of other libraries do not have."""
_EXITS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


@dataclass
class Log:
    """Evaluated expressions and established facts of a block, with the index of the first statement that did so."""

    now: int = 0
    _texts: dict[str, int] = field(default_factory=dict)
    _present: dict[str, int] = field(default_factory=dict)
    _called: dict[str, int] = field(default_factory=dict)
    _ranks: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    _bound: dict[str, int] = field(default_factory=dict)

    def evaluated(self, text: str, before: int) -> bool:
        return self._texts.get(text, before) < before

    def present(self, text: str, before: int) -> bool:
        return self._present.get(text, before) < before

    def called(self, text: str, before: int) -> bool:
        return self._called.get(text, before) < before

    def bound(self, name: str, before: int) -> bool:
        return self._bound.get(name, before) < before

    def rank(self, text: str, before: int) -> int:
        """Return the largest known lower bound of the number of dimensions."""
        return max((rank for at, rank in self._ranks.get(text, ()) if at < before), default=0)

    def take(self, node: ast.expr) -> None:
        """Learn from an expression that has been evaluated."""
        for part in _always_evaluated(node):
            if isinstance(part, ast.Name):
                self.bind((part.id,))
            if isinstance(part, (ast.Attribute, ast.Subscript, ast.Call, ast.BinOp)):
                self._texts.setdefault(ast.unparse(part), self.now)
            if isinstance(part, ast.Attribute):
                self._present.setdefault(ast.unparse(part.value), self.now)
            if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr in TENSOR_METHODS:
                self._called.setdefault(ast.unparse(part.func.value), self.now)
            receiver, place = _dimension_asked(part)
            if receiver is not None:
                self.at_least(receiver, place + 1 if place >= 0 else -place)

    def find(self, test: ast.expr, truth: bool) -> None:
        """Learn from a condition that was evaluated to true or false."""
        self.take(test)
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            self.find(test.operand, not truth)
        elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) is truth:
            for value in test.values:
                self.find(value, truth)
        elif isinstance(test, ast.Compare) and len(test.ops) == 1:
            self._compared(test, truth)
        elif isinstance(test, ast.Call) and truth and _asks_for_tensor(test):
            self._present.setdefault(ast.unparse(test.args[0]), self.now)
            self._called.setdefault(ast.unparse(test.args[0]), self.now)

    def _compared(self, test: ast.Compare, truth: bool) -> None:
        op, left, right = test.ops[0], test.left, test.comparators[0]
        if isinstance(right, ast.Constant) and right.value is None:
            if isinstance(op, ast.IsNot) is truth and isinstance(op, (ast.Is, ast.IsNot)):
                self._present.setdefault(ast.unparse(left), self.now)
            return
        receiver = rank_asked(left)
        if receiver is None and rank_asked(right) is not None:
            receiver, right, op = rank_asked(right), left, _MIRROR.get(type(op), type(op))()
        if receiver is None:
            return
        if isinstance(op, ast.In) and truth and isinstance(right, (ast.Tuple, ast.List, ast.Set)):
            places = [literal(one) for one in right.elts]
            if places and None not in places:
                self.at_least(receiver, min(one for one in places if one is not None))
            return
        bound = literal(right)
        least = _LEAST.get((type(op), truth))
        if bound is not None and least is not None:
            self.at_least(receiver, bound + least)

    def bind(self, names: Iterable[str]) -> None:
        """Learn that these names have a value: they were read or assigned to."""
        for name in names:
            self._bound.setdefault(name, self.now)

    def at_least(self, receiver: ast.expr, rank: int) -> None:
        """Learn that the tensor ``receiver`` has at least ``rank`` dimensions."""
        text = ast.unparse(receiver)
        if rank > self.rank(text, self.now + 1):
            self._ranks.setdefault(text, []).append((self.now, rank))


@dataclass
class Facts:
    """Expressions that were evaluated, tensors that are not None, and lower bounds of their numbers of dimensions."""

    stable: frozenset[str]
    """Names whose value does not change after they are bound."""
    before: list[tuple[Log, int]] = field(default_factory=list)
    """Logs of the blocks around the place, each with the index of the statement that contains the place."""
    own: Log = field(default_factory=Log)
    """Log of the facts learned at the place itself."""

    def _logs(self) -> list[tuple[Log, int]]:
        return [(self.own, self.own.now + 1), *self.before]

    def evaluated(self, node: ast.expr) -> bool:
        """Return whether this very expression was evaluated before, so that it can't raise now."""
        if not isinstance(node, (ast.Attribute, ast.Subscript, ast.Call, ast.BinOp)) or not self._holds(node):
            return False
        text = ast.unparse(node)
        return any(log.evaluated(text, before) for log, before in self._logs())

    def present(self, node: ast.expr) -> bool:
        """Return whether it is known not to be None: an attribute of it was read, or it was compared with None."""
        text = ast.unparse(node)
        return self._holds(node) and any(log.present(text, before) for log, before in self._logs())

    def called(self, node: ast.expr) -> bool:
        """Return whether a tensor method of it was called, so that it can't be an array or None."""
        text = ast.unparse(node)
        return self._holds(node) and any(log.called(text, before) for log, before in self._logs())

    def reaches(self, node: ast.expr, place: int) -> bool:
        """Return whether the tensor ``node`` has a dimension ``place``, which counts from the end if negative."""
        wanted = place + 1 if place >= 0 else -place
        text = ast.unparse(node)
        return self._holds(node) and any(log.rank(text, before) >= wanted for log, before in self._logs())

    def bound(self, name: str) -> bool:
        """Return whether the innermost function has read or bound the name, so that it has a value unless deleted."""
        return any(log.bound(name, before) for log, before in self._logs())

    def _holds(self, node: ast.expr) -> bool:
        return all(one.id in self.stable for one in ast.walk(node) if isinstance(one, ast.Name))

    def take(self, node: ast.expr) -> None:
        """Learn from an expression that has been evaluated."""
        self.own.take(node)

    def find(self, test: ast.expr, truth: bool) -> None:
        """Learn from a condition that was evaluated to true or false."""
        self.own.find(test, truth)


# Lower bound of a rank, relative to k, after a comparison of the rank with k had this result.
_LEAST: dict[tuple[type[ast.cmpop], bool], int] = {
    (ast.Eq, True): 0,
    (ast.NotEq, False): 0,
    (ast.GtE, True): 0,
    (ast.Lt, False): 0,
    (ast.Gt, True): 1,
    (ast.LtE, False): 1,
}
_MIRROR: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
}


def facts_at(module: Module, place: ast.AST) -> Facts:
    """Return the facts at the start of the statement around ``place``."""
    function = module.place(place).function
    facts = Facts(_stable(module, function) if function else frozenset())
    if function is None:
        return facts
    below: ast.AST = place
    for above in module.place(place).ancestors:
        if isinstance(above, ast.Lambda):
            return facts
        if isinstance(below, ast.stmt):
            facts.before += _block_around(above, below)
            if above is function.node:
                break
            _learn_header(facts.own, above, below)
        below = above
    return facts


def _block_around(above: ast.AST, below: ast.stmt) -> Iterator[tuple[Log, int]]:
    """Yield the log of the block that contains ``below``, and the index of ``below``."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(above, name, None)
        if isinstance(block, list) and below in block:
            yield _log_of(above, name), block.index(below)


@lru_cache(maxsize=256)
def _log_of(above: ast.AST, name: str) -> Log:
    log = Log()
    for log.now, statement in enumerate(getattr(above, name)):
        _learn(log, statement)
    return log


def _learn_header(facts: Log, above: ast.AST, below: ast.stmt) -> None:
    """Learn from the header of a compound statement, for code inside of it."""
    if isinstance(above, (ast.If, ast.While)):
        inside = below in above.body
        if inside or isinstance(above, ast.If):
            facts.find(above.test, inside)
    elif isinstance(above, (ast.For, ast.AsyncFor)) and below in above.body:
        facts.take(above.iter)
        facts.bind(stored_in(above.target))
    elif isinstance(above, (ast.With, ast.AsyncWith)):
        for item in above.items:
            facts.take(item.context_expr)
        facts.bind(binds(above))


def _learn(facts: Log, statement: ast.stmt) -> None:
    """Learn from a statement that has completed."""
    facts.bind(binds(statement))
    if isinstance(statement, ast.Assert):
        facts.find(statement.test, True)
    elif isinstance(statement, ast.If):
        exits = isinstance(statement.body[-1], _EXITS) and not statement.orelse
        facts.find(statement.test, False) if exits else facts.take(statement.test)
    elif isinstance(statement, ast.Expr):
        facts.take(statement.value)
        call = statement.value
        checked = isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] in _CONDITION_FIRST
        if checked and isinstance(call, ast.Call) and call.args:
            facts.find(call.args[0], True)
    elif isinstance(statement, ast.Assign):
        facts.take(statement.value)
        for target in statement.targets:
            _unpacked(facts, target, statement.value)
    elif isinstance(statement, (ast.AnnAssign, ast.AugAssign)) and statement.value is not None:
        facts.take(statement.value)
    elif isinstance(statement, (ast.For, ast.AsyncFor)):
        facts.take(statement.iter)
    elif isinstance(statement, (ast.With, ast.AsyncWith)):
        for item in statement.items:
            facts.take(item.context_expr)


def _unpacked(facts: Log, target: ast.expr, value: ast.expr) -> None:
    """Learn the rank from an unpacking such as ``n, c, h = x.shape``."""
    if not isinstance(target, (ast.Tuple, ast.List)):
        return
    spread = value.func if isinstance(value, ast.Call) and not value.args else value
    if isinstance(spread, ast.Attribute) and spread.attr in ("shape", "size", "stride"):
        facts.at_least(spread.value, sum(not isinstance(one, ast.Starred) for one in target.elts))


def _always_evaluated(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the parts of an expression that are evaluated whenever it is."""
    yield node
    inner: Sequence[ast.AST]
    if isinstance(node, ast.BoolOp):
        inner = node.values[:1]
    elif isinstance(node, ast.IfExp):
        inner = [node.test]
    elif isinstance(node, ast.Compare):
        inner = [node.left, node.comparators[0]]
    elif isinstance(node, (ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)):
        inner = [node.generators[0].iter]
    elif isinstance(node, ast.Lambda):
        inner = []
    else:
        inner = [one for one in ast.iter_child_nodes(node) if isinstance(one, (ast.expr, ast.keyword, ast.Slice))]
    for one in inner:
        if isinstance(one, ast.keyword):
            yield from _always_evaluated(one.value)
        elif isinstance(one, ast.expr):
            yield from _always_evaluated(one)


def _dimension_asked(node: ast.expr) -> tuple[ast.expr | None, int]:
    """Return the tensor and the dimension of ``x.size(1)`` and ``x.shape[1]``, or (None, 0)."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and len(node.args) == 1:
        place = literal(node.args[0])
        if node.func.attr in ("size", "stride") and place is not None:
            return node.func.value, place
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
        place = literal(node.slice)
        if place is not None:
            return node.value.value, place
    return None, 0


def counts_dimensions(module: Module, name: ast.Name, receiver: ast.expr) -> bool:
    """Return whether only a loop over ``range(x.dim())``, or a part of it, binds ``name``. ``x`` is the receiver."""
    function = module.place(name).function
    if function is None or Counter(function.nodes.stored)[name.id] != 1 or name.id in function.nodes.named:
        return False
    loops = [one for one in function.nodes.every(ast.For) if isinstance(one.target, ast.Name)]
    ranges = [one.iter for one in loops if isinstance(one.target, ast.Name) and one.target.id == name.id]
    drawn = ranges[0] if ranges else None
    if not isinstance(drawn, ast.Call) or module.names.meaning(drawn.func) != "builtins.range" or len(drawn.args) > 2:
        return False
    first = literal(drawn.args[0]) if len(drawn.args) == 2 else 0
    asked = rank_asked(drawn.args[-1]) if drawn.args else None
    stable = ast.unparse(receiver) in _stable(module, function)
    return asked is not None and ast.unparse(asked) == ast.unparse(receiver) and stable and (first or 0) >= 0


def _asks_for_tensor(call: ast.Call) -> bool:
    """Return whether a call is ``isinstance(x, Tensor)``."""
    if ast.unparse(call.func) != "isinstance" or len(call.args) != 2:
        return False
    return ast.unparse(call.args[1]).rpartition(".")[2] in ("Tensor", "TensorLike")


def rank_asked(node: ast.expr) -> ast.expr | None:
    """Return the tensor whose rank is ``x.dim()``, ``x.ndim`` or ``len(x.shape)``, or None for anything else."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
        return node.func.value if node.func.attr in ("dim", "ndimension") else None
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "len" and len(node.args) == 1:
        spread = node.args[0].func if isinstance(node.args[0], ast.Call) else node.args[0]
        sized = isinstance(spread, ast.Attribute) and spread.attr in ("shape", "size")
        return spread.value if sized and isinstance(spread, ast.Attribute) else None
    return node.value if isinstance(node, ast.Attribute) and node.attr == "ndim" else None


_CHANGING = frozenset(
    {"append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse", "update", "setdefault"}
)


def _root(node: ast.expr) -> str:
    """Return the first name of a chain of attributes and lookups, or an empty string if there is none."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _stable(module: Module, function: FunctionDefinition) -> frozenset[str]:
    """Return the names that are bound once, outside of loops, and whose value no method changes in place."""
    return _settled(function) - module.names.scopes.rebound_outer


@lru_cache(maxsize=256)
def _settled(function: FunctionDefinition) -> frozenset[str]:
    """Return the stable names according to the function itself."""
    stores = Counter(function.nodes.stored)
    stores.update(argument.arg for argument in function.arguments)
    stores.update(function.nodes.named)
    loops = function.nodes.every(ast.For, ast.AsyncFor, ast.While, ast.comprehension)
    changed = {
        one.id
        for loop in loops
        for one in ast.walk(loop.target if isinstance(loop, ast.comprehension) else loop)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    }
    changed |= {
        call.func.value.id
        for call in function.nodes.calls
        if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name)
        if call.func.attr.endswith("_") and not call.func.attr.endswith("__")
    }
    # A store through a name, or a mutation of its list, invalidates facts about its parts.
    places: tuple[ast.Subscript | ast.Attribute, ...] = function.nodes.every(ast.Subscript, ast.Attribute)
    stored = (one for one in places if not isinstance(one.ctx, ast.Load))
    done = (call.func for call in function.nodes.calls if isinstance(call.func, ast.Attribute))
    changed |= {_root(one) for one in stored} | {_root(one) for one in done if one.attr in _CHANGING}
    return frozenset(name for name, count in stores.items() if count == 1 and name not in changed)
