"""Truth values that Python forces out of sizes: the conditions of branches, except those of checks."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from ...syntax.module import Module, Place
from ...syntax.tree import FunctionDefinition, last_word, spelled
from ..flow.flow import Comparison, Flow
from ..types.may_types import Kind

_DECIDING = frozenset(
    f"builtins.{name}" for name in ("int", "bool", "float", "round", "min", "max", "any", "all", "sorted", "divmod")
)
_SYMBOLIC = (Kind.SIZE, Kind.STRIDE, Kind.RATIO, Kind.TRUTH)
_MAY_BE_UNDECIDED = (ast.Compare, ast.Name, ast.Subscript, ast.Call, ast.BinOp)


@dataclass(frozen=True, eq=False)
class ConditionLeaf:
    """A comparison of sizes (or a bare size) whose truth is forced, and the condition it belongs to."""

    node: ast.expr
    test: ast.AST
    """Statement or expression that forces the truth value."""
    place: Place
    compared: Comparison | None
    """Kinds of the two sides, if the node is a comparison."""
    value_taken: bool = False
    """True if the result of an ``and`` or ``or`` is used as a value, not only as a condition."""

    @cached_property
    def scalar(self) -> bool:
        """Return whether a scalar from the user, which may be a SymFloat, is compared with one float."""
        return self.compared is not None and self.compared.left is Kind.NUMBER and _exact(self.node)

    @cached_property
    def no_branch(self) -> bool | None:
        """Return the truth of the leaf that skips the branch of an ``if``: True under an odd number of ``not``.

        Return None if the leaf is not an operand of the condition of an ``if``.
        """
        return _under_nots(self.test.test, self.node, False) if isinstance(self.test, ast.If) else None

    @cached_property
    def refuses(self) -> bool:
        """Return whether the branch ends in an exception."""
        return isinstance(self.test, ast.If) and isinstance(self.test.body[-1], ast.Raise)


def leaf_at(flow: Flow, node: ast.expr, forced: ast.expr) -> ConditionLeaf:
    """Return the leaf for ``node``, inside the expression ``forced`` whose truth is forced. It may compare anything."""
    return ConditionLeaf(node, _purpose(flow.module, forced), flow.module.place(node), _compared(node, flow))


@lru_cache(maxsize=8)
def leaves(flow: Flow) -> tuple[ConditionLeaf, ...]:
    """Return every leaf once, except those inside a ``torch._check`` or an ``assert``."""
    return tuple(_leaves(flow))


def _leaves(flow: Flow) -> Iterator[ConditionLeaf]:
    module, seen = flow.module, set[int]()
    inside_checks = {id(node) for condition in check_conditions(module) for node in ast.walk(condition)}
    for test, condition in _conditions(module):
        if id(condition) in inside_checks:
            continue
        if not any(isinstance(part, _MAY_BE_UNDECIDED) for part in _parts(condition)):
            continue
        function = module.function_of(condition)
        if function is not None and function not in flow.reached:
            continue
        for node in _parts(condition):
            leaf = _assigned(node, function) or node
            if id(leaf) in seen or id(leaf) in inside_checks:
                continue
            if not _undecided(leaf, flow):
                continue
            place = module.place(condition)
            if not place.in_format_string:
                seen.add(id(leaf))
                taken = isinstance(condition, ast.BoolOp) and not only_truth_counts(module, condition)
                where = place if leaf is condition else module.place(leaf)
                yield ConditionLeaf(leaf, test, where, _compared(leaf, flow), taken)


def _tested(call: ast.Call) -> ast.expr | None:
    """Return the condition of ``torch._check(...)`` and its variants, however imported, or None."""
    position = _CONDITION_OF[last_word(call.func)]
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
    """Return the conditions of all checks, and the values assigned to names that a check in the function tests."""
    found: list[ast.expr] = []
    for node in module.nodes.calls:
        condition = _tested(node) if last_word(node.func) in _CONDITION_OF else None
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
    """Return whether only the truth of ``node`` is used: in a condition, or after a ``not``."""
    above = module.parents[node]
    if isinstance(above, (ast.If, ast.While, ast.IfExp, ast.Assert)):
        return above.test is node
    if isinstance(above, ast.BoolOp):
        return only_truth_counts(module, above)
    if isinstance(above, (ast.GeneratorExp, ast.ListComp)):
        return quantified(module.parents[above])
    return (isinstance(above, ast.UnaryOp) and isinstance(above.op, ast.Not)) or isinstance(above, ast.comprehension)


def quantified(node: ast.AST) -> bool:
    """Return whether a node is ``any(... for ...)`` or ``all(... for ...)``."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("any", "all")
        and len(node.args) == 1
        and isinstance(node.args[0], (ast.GeneratorExp, ast.ListComp))
    )


def _under_assert(module: Module, node: ast.AST) -> bool:
    above: ast.AST | None = node
    while above is not None and not isinstance(above, ast.stmt):
        above = module.parents.get(above)
    return isinstance(above, ast.Assert)  # an assert contains only expressions


def _purpose(module: Module, node: ast.AST) -> ast.AST:
    """Return the statement or conditional expression whose test contains a nested condition."""
    below = node
    while (above := module.parents.get(below)) is not None:
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


def _assigned(node: ast.expr, function: FunctionDefinition | None) -> ast.expr | None:
    """Return the comparison behind a flag that is assigned once, or None. The comparison is the leaf to decide."""
    if not isinstance(node, ast.Name) or function is None:
        return None
    made = function.assigned_once.get(node.id)
    return made if isinstance(made, ast.Compare) else None


def _compared(node: ast.expr, flow: Flow) -> Comparison | None:
    return flow.comparison(node) if isinstance(node, ast.Compare) else None


def _undecided(node: ast.expr, flow: Flow) -> bool:
    if isinstance(node, ast.Compare):
        if isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            return False
        return flow.kind(node) is Kind.TRUTH or (_exact(node) and flow.kind(node.left) is Kind.NUMBER)
    if not isinstance(node, _MAY_BE_UNDECIDED):
        return False
    if isinstance(node, ast.Call) and flow.kind(node) is Kind.TRUTH:
        return (flow.module.names.meaning(node.func) or "").startswith("torch.")
    return flow.kind(node) in (Kind.SIZE, Kind.STRIDE)


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


def _exact(node: ast.expr) -> bool:
    """Return whether a comparison is with a nonzero float, as in ``x == 1.0``."""
    if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], ast.Eq):
        return False
    right = node.comparators[0]
    return isinstance(right, ast.Constant) and isinstance(right.value, float) and right.value != 0.0


def forces(condition: ast.expr, flow: Flow) -> bool:
    """Return whether a condition forces the truth of a size or of a comparison of sizes."""
    return any(_undecided(part, flow) for part in _parts(condition))


def decides(flow: Flow, node: ast.expr) -> bool:
    """Return whether evaluating ``node`` needs the value of a size: ``int(n)``, ``max(s)``, ``a if n == 0 else b``.

    ``min`` and ``max`` of two sizes do not count: `use_sym_min_max` writes them symbolically.
    """
    if isinstance(node, ast.IfExp):
        return _symbolic(flow, node.test)
    if isinstance(node, ast.BoolOp):
        return any(_symbolic(flow, one) for one in node.values[:-1])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return _symbolic(flow, node.operand)
    if not isinstance(node, ast.Call):
        return False
    meaning = flow.module.names.meaning(node.func)
    if meaning in ("builtins.min", "builtins.max") and len(node.args) == 2 and not node.keywords:
        return False
    return meaning in _DECIDING and any(_symbolic(flow, one) for one in node.args)


def decided_inside(flow: Flow, node: ast.expr) -> ast.expr | None:
    """Return the first part of a condition that specializes a size or compares an array, or None."""
    for part in ast.walk(node):
        foreign = isinstance(part, ast.Compare) and flow.kind(part) is Kind.FOREIGN
        if isinstance(part, ast.expr) and (foreign or (part is not node and decides(flow, part))):
            return part
    return None


def _symbolic(flow: Flow, node: ast.expr) -> bool:
    if isinstance(node, (ast.GeneratorExp, ast.ListComp)):
        node = node.elt
    kind = flow.kind(node)
    return kind in _SYMBOLIC or kind.several
