"""Purpose of a branch: to reject an input, to save time, or to compute something else."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import lru_cache

from ...syntax.module import Place
from ..flow.flow import Flow
from ..types.may_types import Kind
from .condition_leaves import ConditionLeaf, forces, leaves

_FLAGS = frozenset({"config", "inductor_config", "torch_config"})


@dataclass(frozen=True, eq=False)
class SizeBranch:
    """A branch on a size that does more than raise."""

    leaf: ConditionLeaf
    shortcut: bool
    """True if the branch is an optimization, so that skipping it only costs time."""


@dataclass(frozen=True, eq=False)
class SizeRefusal:
    """A statement that only rejects sizes."""

    node: ast.If | ast.Assert
    place: Place
    of_other_types: bool
    """True in the ``else`` of ``if isinstance(n, (int, SymInt))``: there ``n`` has another type, such as a sympy
    number."""


@lru_cache(maxsize=8)
def branches(flow: Flow) -> tuple[SizeBranch, ...]:
    """Return every leaf of a branch in a file with functions that does more than raise."""
    found = leaves(flow) if flow.module.functions else ()
    return tuple(SizeBranch(leaf, only_optimizes(flow, leaf)) for leaf in found if not only_raises(leaf.test))


def refusals(flow: Flow) -> list[SizeRefusal]:
    """Return every ``assert`` on sizes, and every ``if`` on sizes whose body only raises."""
    found: list[ast.If | ast.Assert] = [*flow.module.nodes.asserts]
    found += [node for node in flow.module.nodes.ifs if only_raises(node)]
    places = [(node, flow.module.place(node)) for node in found if forces(node.test, flow)]
    return [SizeRefusal(node, place, _of_other_types(place, node)) for node, place in places]


def only_raises(test: ast.AST) -> bool:
    """Return whether a statement is ``if ...: raise ...`` without an else. A message may be assigned before."""
    if not isinstance(test, ast.If) or test.orelse or not isinstance(test.body[-1], ast.Raise):
        return False
    first = test.body[0]
    named = len(test.body) == 2 and isinstance(first, ast.Assign) and isinstance(first.targets[0], ast.Name)
    return len(test.body) == 1 or named


def only_complains(test: ast.AST) -> bool:
    """Return whether a statement is an ``if`` without an else that always ends in an exception or a warning."""
    return isinstance(test, ast.If) and not test.orelse and all(map(_complains, test.body))


def _complains(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.If):
        return all(map(_complains, (*statement.body, *statement.orelse)))
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Call) and ast.unparse(statement.value.func) == "warnings.warn"
    return isinstance(statement, ast.Raise)


def _of_other_types(place: Place, node: ast.If | ast.Assert) -> bool:
    names = {one.id for one in ast.walk(node.test) if isinstance(one, ast.Name)}
    below: ast.AST = node
    for above in place.ancestors:
        if isinstance(above, ast.If) and below in above.orelse and isinstance(above.test, ast.Call):
            call = above.test
            named = isinstance(call.func, ast.Name) and call.func.id == "isinstance" and len(call.args) == 2
            if named and isinstance(call.args[0], ast.Name) and call.args[0].id in names:
                return "SymInt" in ast.unparse(call.args[1])
        below = above
    return False


def only_optimizes(flow: Flow, leaf: ConditionLeaf) -> bool:
    """Return whether skipping the branch only costs time, so that an undecided size needs no guard."""
    # A graph pass may always leave the graph unchanged.
    if "fx_passes" in flow.module.source.path.parts and compares_order(leaf.node):
        return True
    return _depends_on_tuning(leaf) or _scalar_shortcut(flow, leaf)


def compares_order(node: ast.AST) -> bool:
    """Return whether a comparison is an order: a threshold, not a special case such as an empty tensor."""
    compared = node.args[0] if isinstance(node, ast.Call) and node.args else node
    ordered = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
    return isinstance(compared, ast.Compare) and isinstance(compared.ops[0], ordered)


def _depends_on_tuning(leaf: ConditionLeaf) -> bool:
    """Return whether the branch runs only on one type of device, or under a tuning flag.

    The result can't depend on such a branch.
    """
    below: ast.AST = leaf.node
    for above in leaf.place.ancestors:
        if isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return False
        inside = isinstance(above, ast.If) and (below in above.body or below is above.test)
        if inside and isinstance(above, ast.If) and _names_tuning(above.test):
            return _returns(above)
        below = above
    return False


def _names_tuning(test: ast.expr) -> bool:
    required = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    return any(_device_type(one) or _flag(one) for one in required)


def _device_type(node: ast.expr) -> bool:
    """Return whether an expression compares a device type, as in ``x.device.type == "cpu"``."""
    return (
        isinstance(node, ast.Compare)
        and isinstance(node.left, ast.Attribute)
        and node.left.attr == "type"
        and isinstance(node.left.value, ast.Attribute)
        and node.left.value.attr == "device"
    )


def _flag(node: ast.expr) -> bool:
    """Return whether an expression is a flag such as ``config.coordinate_descent_tuning``."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in _FLAGS


def _returns(statement: ast.If) -> bool:
    return any(isinstance(node, ast.Return) for one in statement.body for node in ast.walk(one))


def _scalar_shortcut(flow: Flow, leaf: ConditionLeaf) -> bool:
    """Return whether a user's number is compared with a float, for a cheaper formula that returns at once."""
    returns = isinstance(leaf.test, ast.If) and isinstance(leaf.test.body[-1], ast.Return)
    if not leaf.scalar or not returns:
        return False
    return flow.module.own_tree or Kind.TENSOR in flow.scope_of(leaf.node).held.values()
