"""Which truth an undecided comparison of sizes is given: the one that is right for the general case."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from ..syntax.module import Module
from .flow import Flow
from .purpose import (
    EAGER_ONLY,
    answers_by,
    asked_in_front,
    corrects_remainder,
    crops,
    cuts_off,
    decided_by_loop,
    decides_arity,
    divided_by_difference,
    eager_only,
    only_looks,
    place_in_loop,
    refuses_otherwise,
    tells_kinds_apart,
)
from .truths import Leaf, negated, refuses
from .values import Kind

ONLY_BAD_REFUSED = "only an input that is surely bad is refused"
# From here on a constant is "no limit given", not a size.
_SENTINEL = 2**31
_MIRROR: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
}


@dataclass(frozen=True)
class Default:
    """Take the undecided comparison as ``truth``, because of ``why``."""

    truth: bool
    why: str


@dataclass(frozen=True)
class NoDefault:
    """Neither truth is right in general."""

    reason: str
    detail: str


def general(module: Module, flow: Flow, leaf: Leaf) -> Default | NoDefault:
    """The default for a leaf, from what stands on its branches and how it compares."""
    default = _general(module, flow, leaf)
    no_branch = negated(leaf.test, leaf.node)
    refused = isinstance(default, Default) and default.truth is no_branch and refuses_otherwise(module, leaf.test)
    if refused and not _asks_for_placeholder(leaf.node):
        return NoDefault(
            "refuses-undecided", "a size that is not decided would come to the exception behind the branch"
        )
    if isinstance(default, Default) and answers_by(module, leaf, default.truth):
        return NoDefault("decides-answer", "the function would answer by a comparison that is not decided")
    return default


def _asks_for_placeholder(node: ast.expr) -> bool:
    """``n == -1`` asks for no size: what is not decided is one, and goes on to what sizes are asked."""
    return isinstance(node, ast.Compare) and _integer(node.comparators[0]) == -1


def _general(module: Module, flow: Flow, leaf: Leaf) -> Default | NoDefault:
    test = leaf.test
    if eager_only(module, leaf.node):
        return NoDefault(*EAGER_ONLY)
    if isinstance(test, ast.While):
        return NoDefault("loop-condition", "a loop whose end is undecided would run forever or never")
    if decided_by_loop(module, flow, leaf.node):
        return NoDefault("loop-condition", "the loop around it has decided such a size")
    if isinstance(test, ast.If) and decides_arity(test, leaf.function):
        return NoDefault("decides-arity", "the branches return different numbers of values")
    if cuts_off(test, leaf.node):
        return NoDefault("neither-branch-general", "what is cut off by a slice up to -n is everything for 0")
    if isinstance(leaf.node, ast.Compare) and asked_in_front(module, leaf.node):
        return NoDefault("decided-in-front", "the preceding comparison already needs the values of these sizes")
    no_branch = negated(test, leaf.node)
    if no_branch is not None and refuses(test):
        return Default(no_branch, ONLY_BAD_REFUSED)
    if no_branch is not None and only_looks(test, leaf):
        return Default(no_branch, "the branch only looks for a fault, and only what is known is looked at")
    if corrects_remainder(test, leaf.node):
        return NoDefault("neither-branch-general", "what a remainder needs is not what a multiple needs")
    if not isinstance(leaf.node, ast.Compare):
        if flow.kind(leaf.node) is not Kind.TRUTH and not _of_own_function(module, flow, leaf):
            return Default(True, "a size is not 0 in general")
        if isinstance(leaf.node, ast.Call) and ast.unparse(leaf.node.func).endswith("sym_eq"):
            return Default(False, "being equal is the special case")
        return NoDefault("neither-branch-general", "what this call compares is not seen from here")
    if len(leaf.node.ops) != 1:
        return NoDefault("chained-comparison", "two comparisons in one; write them apart")
    return of_comparison(flow, leaf.node, test)


def _of_own_function(module: Module, flow: Flow, leaf: Leaf) -> bool:
    """A function of the file may return a size, or a bool that it found by one."""
    if not isinstance(leaf.node, ast.Call) or not isinstance(leaf.node.func, ast.Name):
        return False
    return not (module.names.meaning(leaf.node.func) or "").startswith(("builtins.", "torch.", "math."))


def of_comparison(flow: Flow, node: ast.Compare, test: ast.AST | None) -> Default | NoDefault:
    """The default for one comparison by what it compares; ``test`` is what forces it."""
    op, left, right = node.ops[0], node.left, node.comparators[0]
    if isinstance(test, ast.IfExp) and any(isinstance(one, ast.Mod) for one in ast.walk(node)):
        return NoDefault(
            "neither-branch-general", "the value for a multiple is not what the other formula gives for it"
        )
    function = flow.module.place(node).function
    if place_in_loop(function, node):
        return NoDefault("neither-branch-general", "a loop comes to every place, and its length has been decided")
    if test is not None and _integer(right) is None and crops(test):
        return NoDefault("neither-branch-general", "equal sizes would be cut by the same slice")
    if test is not None and tells_kinds_apart(test, node, _integer(right)):
        return NoDefault("neither-branch-general", f"{_integer(right)} says what kind of input this is")
    set_apart = _set_apart(node)
    if set_apart is not None and divided_by_difference(function, left, set_apart):
        return NoDefault("neither-branch-general", "the difference of the two is divided by where they are not equal")
    if isinstance(op, (ast.In, ast.NotIn)) and not _numbers(right):
        return NoDefault("neither-branch-general", "being one of several sizes is no special case")
    if isinstance(op, (ast.Eq, ast.In)):
        return Default(False, f"{_special(node)} is the special case")
    if isinstance(op, (ast.NotEq, ast.NotIn)):
        return Default(True, f"{_special(node)} is the special case")
    if Kind.STRIDE in (flow.kind(left), flow.kind(right)) and not _constants(node):
        return NoDefault("stride-ordering", "strides are sorted here; no order is right for undecided ones")
    for side, kind in ((right, type(op)), (left, _MIRROR.get(type(op), type(op)))):
        constant = _integer(side)
        if constant is not None:
            return _against(constant, kind)
    if _cost_heuristic(flow, node, test):
        return Default(False, "the threshold is an estimate of cost; both branches compute the same")
    return NoDefault("neither-branch-general", "two sizes are ordered; neither side is right for all of them")


def _set_apart(node: ast.Compare) -> ast.expr | None:
    """What a size has to differ from on one side: 1 in ``n > 1`` and ``n < 2``."""
    op, right = node.ops[0], node.comparators[0]
    if isinstance(op, (ast.Eq, ast.NotEq)):
        return right
    constant = _integer(right)
    if constant is None or not isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
        return None
    return ast.Constant(constant - isinstance(op, (ast.Lt, ast.GtE)))


def _against(constant: int, op: type[ast.cmpop]) -> Default | NoDefault:
    """Sizes are large in general: larger than 0 and 1, and smaller than "no limit"."""
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
    return all(_integer(one) is not None for one in elements)


def _special(node: ast.Compare) -> str:
    constant = _integer(node.comparators[0])
    if isinstance(node.ops[0], (ast.In, ast.NotIn)):
        return "being one of them"
    if constant is None:
        return "being equal"
    return {0: "0", 1: "1", -1: "-1"}.get(constant, f"exactly {constant}")


def _integer(node: ast.expr) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _integer(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.BinOp):
        left, right = _integer(node.left), _integer(node.right)
        if left is None or right is None or abs(right) > 64:
            return None
        if isinstance(node.op, ast.Pow):
            return int(left**right)
        return left - right if isinstance(node.op, ast.Sub) else None
    if isinstance(node, ast.Constant) and isinstance(node.value, int) and not isinstance(node.value, bool):
        return node.value
    return None


def _constants(node: ast.Compare) -> bool:
    return _integer(node.left) is not None or _integer(node.comparators[0]) is not None


def _cost_heuristic(flow: Flow, node: ast.Compare, test: ast.AST | None) -> bool:
    """A size against a broken number, with a full computation on either side."""
    weighed = any(isinstance(one, ast.Constant) and isinstance(one.value, float) for one in ast.walk(node))
    if not weighed or not isinstance(test, ast.If) or not test.orelse or test.test is not node:
        return False
    return all(isinstance(side[-1], ast.Return) for side in (test.body, test.orelse))
