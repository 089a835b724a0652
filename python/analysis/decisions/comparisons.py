"""Default of an undecided comparison of sizes, by its operands and by the use of the sizes in its branch."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from ...syntax.tree import FunctionDefinition, literal, spelled
from ..types.may_types import Kind
from .condition_leaves import ConditionLeaf

LEAVING = (ast.Return, ast.Continue, ast.Break)
_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
# A constant of at least this value means "no limit", not a size.
_SENTINEL = 2**31
_MIRROR: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
}


@dataclass(frozen=True)
class Default:
    """Decision to take the undecided comparison as ``truth``, because of ``why``."""

    truth: bool
    why: str


@dataclass(frozen=True)
class NoDefault:
    """Reason why neither truth is right in general."""

    reason: str
    detail: str


def of_comparison(leaf: ConditionLeaf, node: ast.Compare, *, checked: bool = False) -> Default | NoDefault:
    """Return the default for a leaf whose node is the one comparison ``node``.

    If it is ``checked`` at run time, the code behind the branch may be wrong for the special case.
    """
    test, function = leaf.test, leaf.place.function
    op, left, right = node.ops[0], node.left, node.comparators[0]
    if isinstance(test, ast.IfExp) and any(isinstance(one, ast.Mod) for one in ast.walk(node)):
        return NoDefault(
            "neither-branch-general", "the value for a multiple is not what the other formula gives for it"
        )
    if _place_in_loop(function, node):
        return NoDefault("neither-branch-general", "a loop comes to every place, and its length has been decided")
    if integer(right) is None and crops(test):
        return NoDefault("neither-branch-general", "equal sizes would be cut by the same slice")
    if _tells_kinds_apart(test, node, integer(right)):
        return NoDefault("neither-branch-general", f"{integer(right)} says what kind of input this is")
    set_apart = _set_apart(node)
    if set_apart is not None and not checked and _divided_by_difference(function, left, set_apart):
        return NoDefault("neither-branch-general", "the difference of the two is divided by where they are not equal")
    if isinstance(op, (ast.In, ast.NotIn)) and not _numbers(right):
        return NoDefault("neither-branch-general", "being one of several sizes is no special case")
    if isinstance(op, (ast.Eq, ast.In)):
        return Default(False, f"{_special(node)} is the special case")
    if isinstance(op, (ast.NotEq, ast.NotIn)):
        return Default(True, f"{_special(node)} is the special case")
    if leaf.compared is not None and Kind.STRIDE in (leaf.compared.left, leaf.compared.right) and not _constants(node):
        return NoDefault("stride-ordering", "strides are sorted here; no order is right for undecided ones")
    for side, kind in ((right, type(op)), (left, _MIRROR.get(type(op), type(op)))):
        constant = integer(side)
        if constant is not None:
            if _is_remainder(function, left if side is right else right):
                return NoDefault("neither-branch-general", "a remainder of 0 is as general as any other")
            return _against(constant, kind)
    if _cost_heuristic(node, test):
        return Default(False, "the threshold is an estimate of cost; both branches compute the same")
    return NoDefault("neither-branch-general", "two sizes are ordered; neither side is right for all of them")


def _is_remainder(function: FunctionDefinition | None, node: ast.expr) -> bool:
    """Return whether an expression is ``n % m``, also by way of a name that one assignment gives it."""
    made = function.assigned_once.get(node.id, node) if function is not None and isinstance(node, ast.Name) else node
    return isinstance(made, ast.BinOp) and isinstance(made.op, ast.Mod)


def _set_apart(node: ast.Compare) -> ast.expr | None:
    """Return the special value that one side of the branch excludes: 1 in ``n > 1`` and ``n < 2``."""
    op, right = node.ops[0], node.comparators[0]
    if isinstance(op, (ast.Eq, ast.NotEq)):
        return right
    constant = integer(right)
    if constant is None or not isinstance(op, _ORDERS):
        return None
    return ast.Constant(constant - isinstance(op, (ast.Lt, ast.GtE)))


def _against(constant: int, op: type[ast.cmpop]) -> Default | NoDefault:
    """Return the default for a comparison with a constant.

    Sizes are large in general: larger than 0 and 1, and smaller than "no limit".
    """
    larger = issubclass(op, (ast.Gt, ast.GtE))
    if constant >= _SENTINEL:
        return Default(not larger, "no size reaches that limit")
    if (constant == 0 and op in (ast.Lt, ast.GtE)) or (constant == -1 and op in (ast.Gt, ast.LtE)):
        return NoDefault("neither-branch-general", "only what is no size can be negative; neither sign is general")
    if constant in (0, 1) or (constant == 2 and op in (ast.Lt, ast.GtE)):
        return Default(larger, "a size is larger than 1 in general")
    return NoDefault("neither-branch-general", f"{constant} splits the sizes; neither side is the special case")


def _numbers(choices: ast.expr) -> bool:
    elements = choices.elts if isinstance(choices, (ast.Tuple, ast.List, ast.Set)) else [choices]
    return all(integer(one) is not None for one in elements)


def _special(node: ast.Compare) -> str:
    constant = integer(node.comparators[0])
    if isinstance(node.ops[0], (ast.In, ast.NotIn)):
        return "being one of them"
    if constant is None:
        return "being equal"
    return {0: "0", 1: "1", -1: "-1"}.get(constant, f"exactly {constant}")


def integer(node: ast.expr) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = integer(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.BinOp):
        left, right = integer(node.left), integer(node.right)
        if left is None or right is None or abs(right) > 64:
            return None
        if isinstance(node.op, ast.Pow):
            return int(left**right)
        return left - right if isinstance(node.op, ast.Sub) else None
    if isinstance(node, ast.Constant) and isinstance(node.value, int) and not isinstance(node.value, bool):
        return node.value
    return None


def _constants(node: ast.Compare) -> bool:
    return integer(node.left) is not None or integer(node.comparators[0]) is not None


def _cost_heuristic(node: ast.Compare, test: ast.AST) -> bool:
    """Return whether a size is compared with a float, and both sides of the branch compute and return."""
    weighed = any(isinstance(one, ast.Constant) and isinstance(one.value, float) for one in ast.walk(node))
    if not weighed or not isinstance(test, ast.If) or not test.orelse or test.test is not node:
        return False
    return all(isinstance(side[-1], ast.Return) for side in (test.body, test.orelse))


def _place_in_loop(function: FunctionDefinition | None, node: ast.Compare) -> bool:
    """Return whether a loop variable is compared, as in ``for i in range(n): ... i == n - 1``.

    The loop reaches every index, so no index is the general case.
    """
    sides = [side.id for side in (node.left, *node.comparators) if isinstance(side, ast.Name)]
    if function is None or not sides:
        return False
    places = {
        one.target.id
        for one in function.nodes.every(ast.For)
        if isinstance(one.target, ast.Name) and isinstance(one.iter, ast.Call) and spelled(one.iter.func) == "range"
    }
    return not places.isdisjoint(sides)


def _tells_kinds_apart(test: ast.AST, node: ast.Compare, constant: int | None) -> bool:
    """Return whether a constant distinguishes kinds of inputs, as in ``if x.shape[-1] == 3: ...``.

    A branch that returns does not count.
    """
    if constant is None or constant < 2 or not isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
        return False
    return isinstance(test, ast.IfExp) or (isinstance(test, ast.If) and not isinstance(test.body[-1], LEAVING))


def crops(test: ast.AST) -> bool:
    """Return whether a branch slices, as in ``if x.shape != y.shape: x = x[:, :-1]``. Equal shapes would be cut too."""
    if not isinstance(test, ast.If) or isinstance(test.body[-1], LEAVING):
        return False
    slices = [one for body in test.body for one in ast.walk(body) if isinstance(one, ast.Slice)]
    return any(literal(end) not in (None, 0) for one in slices for end in (one.lower, one.upper) if end is not None)


def _divided_by_difference(function: FunctionDefinition | None, left: ast.expr, right: ast.expr) -> bool:
    """Return whether the code divides by the difference, as in ``if low == high: ...; x / (high - low)``.

    Without the branch it would divide by zero.
    """
    if function is None or not function.divisors:
        return False
    sides = {ast.unparse(left), ast.unparse(right)}
    named = {one.id for divisor in function.divisors for one in ast.walk(divisor) if isinstance(one, ast.Name)}
    divisors = [*function.divisors, *(one.value for one in function.nodes.assigns if spelled(one.targets[0]) in named)]
    return any(
        isinstance(one, ast.BinOp)
        and isinstance(one.op, ast.Sub)
        and {ast.unparse(one.left), ast.unparse(one.right)} == sides
        for divisor in divisors
        for one in ast.walk(divisor)
    )
