"""Where Python forces a truth value out of sizes: the leaves of conditions, checks apart."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from ..syntax.module import Module
from ..syntax.tree import Function, spelled
from .flow import Flow
from .values import Kind

Test = ast.If | ast.While | ast.IfExp | ast.comprehension | ast.Assert | ast.expr


@dataclass(frozen=True, eq=False)
class Leaf:
    """A comparison of sizes (or a bare size) whose truth is forced, and the condition it belongs to."""

    node: ast.expr
    test: ast.AST
    """The statement or expression that forces it."""
    function: Function | None
    value_taken: bool = False
    """What ``and`` or ``or`` make of it is used as a value, not only asked for its truth."""


@lru_cache(maxsize=8)
def leaves(module: Module, flow: Flow) -> tuple[Leaf, ...]:
    """Every leaf once; none inside a ``torch._check`` or an ``assert``."""
    return tuple(_leaves(module, flow))


def _leaves(module: Module, flow: Flow) -> Iterator[Leaf]:
    seen: set[int] = set()
    inside_checks = {id(node) for condition in check_conditions(module) for node in ast.walk(condition)}
    for test, condition in _conditions(module):
        if id(condition) in inside_checks:
            continue
        function = module.place(condition).function
        if function is not None and function not in flow.reached:
            continue
        for node in _parts(condition):
            leaf = _assigned(node, function) or node
            if id(leaf) in seen or id(leaf) in inside_checks or not _undecided(leaf, flow):
                continue
            if not module.place(condition).in_format_string:
                seen.add(id(leaf))
                taken = isinstance(condition, ast.BoolOp) and not only_truth_counts(module, condition)
                yield Leaf(leaf, test, function, taken)


def _tested(call: ast.Call) -> ast.expr | None:
    """The condition of ``torch._check(...)`` and its kind, however imported."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    position = _CONDITION_OF.get(name)
    if position is None:
        return None
    if position < len(call.args):
        starred = any(isinstance(one, ast.Starred) for one in call.args[: position + 1])
        return None if starred else call.args[position]
    return next((keyword.value for keyword in call.keywords if keyword.arg == "cond"), None)


_CONDITION_OF = {
    "_check": 0,
    "_check_value": 0,
    "_check_index": 0,
    "_check_type": 0,
    "_check_not_implemented": 0,
    "_check_with": 1,
}


@lru_cache(maxsize=8)
def check_conditions(module: Module) -> tuple[ast.expr, ...]:
    """The conditions of all checks, and what is assigned to a name that a check of the same function tests."""
    found: list[ast.expr] = []
    for node in module.nodes.calls:
        condition = _tested(node)
        if condition is None:
            continue
        found.append(condition)
        function = module.place(node).function
        names = {one.id for one in _bare_names(condition)}
        found += [
            other.value
            for other in (function.nodes.assigns if function and names else ())
            if isinstance(other.value, (ast.BoolOp, ast.Compare)) and spelled(other.targets[0]) in names
        ]
    return tuple(found)


def _bare_names(condition: ast.expr) -> Iterator[ast.Name]:
    for part in _parts(condition):
        if isinstance(part, ast.Name):
            yield part


def _conditions(module: Module) -> Iterator[tuple[ast.AST, ast.expr]]:
    for node in module.nodes.every(ast.If, ast.While, ast.IfExp, ast.comprehension, ast.UnaryOp, ast.BoolOp, ast.Call):
        if isinstance(node, (ast.If, ast.While, ast.IfExp)):
            yield node, node.test
        elif isinstance(node, ast.comprehension):
            for condition in node.ifs:
                yield node, condition
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield node, node.operand
        elif isinstance(node, ast.BoolOp) and not _under_assert(module, node):
            yield _purpose(module, node), node
        elif quantified(node):
            assert isinstance(node, ast.Call) and isinstance(node.args[0], ast.GeneratorExp | ast.ListComp)
            if not _under_assert(module, node):
                yield node, node.args[0].elt


def only_truth_counts(module: Module, node: ast.expr) -> bool:
    """Whether ``node`` stands where it is only asked for its truth: in a condition, or behind a ``not``."""
    above = module.parents[node]
    if isinstance(above, (ast.If, ast.While, ast.IfExp, ast.Assert)):
        return above.test is node
    if isinstance(above, ast.BoolOp):
        return only_truth_counts(module, above)
    if isinstance(above, (ast.GeneratorExp, ast.ListComp)):
        return quantified(module.parents[above])
    return (isinstance(above, ast.UnaryOp) and isinstance(above.op, ast.Not)) or isinstance(above, ast.comprehension)


def quantified(node: ast.AST) -> bool:
    """``any(... for ...)`` or ``all(... for ...)``."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("any", "all")
        and len(node.args) == 1
        and isinstance(node.args[0], (ast.GeneratorExp, ast.ListComp))
    )


def _under_assert(module: Module, node: ast.AST) -> bool:
    return any(isinstance(above, ast.Assert) for above in module.place(node).ancestors)


def _purpose(module: Module, node: ast.AST) -> ast.AST:
    """The statement or conditional expression whose test a nested condition is part of."""
    below = node
    for above in module.place(node).ancestors:
        if isinstance(above, (ast.If, ast.While, ast.IfExp)) and above.test is below:
            return above
        if not isinstance(above, (ast.BoolOp, ast.UnaryOp)):
            return above
        below = above
    return node


def _parts(condition: ast.expr) -> Iterator[ast.expr]:
    if isinstance(condition, ast.BoolOp):
        for value in condition.values:
            yield from _parts(value)
    elif isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Not):
        yield from _parts(condition.operand)
    elif quantified(condition):
        assert isinstance(condition, ast.Call) and isinstance(condition.args[0], ast.GeneratorExp | ast.ListComp)
        yield from _parts(condition.args[0].elt)
    else:
        yield condition


def _assigned(node: ast.expr, function: Function | None) -> ast.expr | None:
    """A flag that was assigned once from a comparison is decided where it was made."""
    if not isinstance(node, ast.Name) or function is None:
        return None
    made = function.assigned_once.get(node.id)
    return made if isinstance(made, ast.Compare) else None


def _undecided(node: ast.expr, flow: Flow) -> bool:
    if isinstance(node, ast.Compare):
        if isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            return False
        return flow.kind(node) is Kind.TRUTH or is_scalar_test(node, flow)
    if isinstance(node, ast.Call) and flow.kind(node) is Kind.TRUTH:
        return (flow.module.names.meaning(node.func) or "").startswith("torch.")
    if isinstance(node, (ast.Name, ast.Subscript, ast.Call, ast.BinOp)):
        return flow.kind(node) in (Kind.SIZE, Kind.STRIDE)
    return False


def refuses(test: ast.AST) -> bool:
    """The branch ends in an exception."""
    return isinstance(test, ast.If) and isinstance(test.body[-1], ast.Raise)


def negated(test: ast.AST, node: ast.expr) -> bool | None:
    """Whether an odd number of ``not`` stand above ``node`` in the condition of an ``if``.

    None when ``node`` is not one of the truths that the condition is put together from.
    """
    return _under_nots(test.test, node, False) if isinstance(test, ast.If) else None


def _under_nots(condition: ast.expr, node: ast.expr, odd: bool) -> bool | None:
    if condition is node:
        return odd
    inner: list[ast.expr] = []
    if isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Not):
        inner, odd = [condition.operand], not odd
    elif isinstance(condition, ast.BoolOp):
        inner = condition.values
    elif quantified(condition):
        assert isinstance(condition, ast.Call) and isinstance(condition.args[0], ast.GeneratorExp | ast.ListComp)
        inner = [condition.args[0].elt]
    return next((found for one in inner if (found := _under_nots(one, node, odd)) is not None), None)


def is_scalar_test(node: ast.expr, flow: Flow) -> bool:
    """A scalar the user gave, which may be a SymFloat, is compared with one exact float."""
    if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], ast.Eq):
        return False
    right = node.comparators[0]
    exact = isinstance(right, ast.Constant) and isinstance(right.value, float) and right.value != 0.0
    return exact and flow.kind(node.left) is Kind.NUMBER


def forced_by(module: Module, node: ast.expr) -> ast.AST:
    """The statement or expression that a condition decides, from the condition or a part of it."""
    return _purpose(module, node)


def forced_parts(condition: ast.expr, flow: Flow) -> Iterator[ast.expr]:
    """The comparisons of sizes that a condition is made of."""
    for part in _parts(condition):
        if _undecided(part, flow):
            yield part
