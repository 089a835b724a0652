"""Default of an undecided comparison of sizes: the truth that is right for the general case.

The two sides of the branch are examined first. If they leave it open, `comparisons` decides.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...syntax.module import Module
from ...syntax.tree import GROWING, FunctionDefinition, spelled
from ..flow.flow import Flow
from ..types.may_types import Kind
from .comparisons import LEAVING, Default, NoDefault, crops, integer, of_comparison
from .condition_leaves import ConditionLeaf, forces

ONLY_BAD_REFUSED = "only an input that is surely bad is refused"
_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_LOOKING = (ast.For, ast.If, ast.Assign, ast.Continue, ast.Break, ast.Pass, ast.Return)


def general(flow: Flow, leaf: ConditionLeaf) -> Default | NoDefault:
    """Return the default for a leaf, by the two sides of its branch and by its operands."""
    default = _general(flow, leaf)
    refused = (
        isinstance(default, Default) and default.truth is leaf.no_branch and _refuses_otherwise(flow.module, leaf.test)
    )
    if refused and not _asks_for_placeholder(leaf.node):
        return NoDefault(
            "refuses-undecided", "a size that is not decided would come to the exception behind the branch"
        )
    if isinstance(default, Default) and _answers_by(leaf, default.truth):
        return NoDefault("decides-answer", "the function would answer by a comparison that is not decided")
    return default


def _asks_for_placeholder(node: ast.expr) -> bool:
    """Return whether ``n == -1`` tests for a placeholder. An undecided value is a size, and takes the path of sizes."""
    return isinstance(node, ast.Compare) and integer(node.comparators[0]) == -1


def _general(flow: Flow, leaf: ConditionLeaf) -> Default | NoDefault:
    test, no_branch = leaf.test, leaf.no_branch
    if isinstance(test, ast.While):
        return NoDefault("loop-condition", "a loop whose end is undecided would run forever or never")
    if _decided_by_loop(flow, leaf):
        return NoDefault("loop-condition", "the loop around it has decided such a size")
    if isinstance(test, ast.If) and _decides_arity(test, leaf.place.function):
        return NoDefault("decides-arity", "the branches return different numbers of values")
    if _cuts_off(test, leaf.node):
        return NoDefault("neither-branch-general", "what is cut off by a slice up to -n is everything for 0")
    if isinstance(leaf.node, ast.Compare) and _asked_in_front(flow.module, leaf.node):
        return NoDefault("decided-in-front", "the preceding comparison already needs the values of these sizes")
    if no_branch is not None and leaf.refuses:
        return Default(no_branch, ONLY_BAD_REFUSED)
    if no_branch is not None and _only_looks(test, leaf):
        return Default(no_branch, "the branch only looks for a fault, and only what is known is looked at")
    if _corrects_remainder(test, leaf.node):
        return NoDefault("neither-branch-general", "what a remainder needs is not what a multiple needs")
    if not isinstance(leaf.node, ast.Compare):
        if flow.kind(leaf.node) is not Kind.TRUTH and not _of_own_function(flow.module, leaf):
            return Default(True, "a size is not 0 in general")
        if isinstance(leaf.node, ast.Call) and ast.unparse(leaf.node.func).endswith("sym_eq"):
            return Default(False, "being equal is the special case")
        return NoDefault("neither-branch-general", "what this call compares is not seen from here")
    if len(leaf.node.ops) != 1:
        return NoDefault("chained-comparison", "two comparisons in one; write them apart")
    return of_comparison(leaf, leaf.node)


def _of_own_function(module: Module, leaf: ConditionLeaf) -> bool:
    """Return whether a leaf calls a function of the file, which may return a size or a bool."""
    if not isinstance(leaf.node, ast.Call) or not isinstance(leaf.node.func, ast.Name):
        return False
    return not (module.names.meaning(leaf.node.func) or "").startswith(("builtins.", "torch.", "math."))


def _decides_arity(test: ast.If, function: FunctionDefinition | None) -> bool:
    """Return whether the size decides the number of results.

    One side is ``return ()``, or appends to a list that is returned.
    """
    if any(
        isinstance(one, ast.Return) and isinstance(one.value, (ast.Tuple, ast.List)) and not one.value.elts
        for one in test.body
    ):
        return True
    only = test.body[0].value if len(test.body) == 1 and isinstance(test.body[0], ast.Expr) else None
    if function is None or not isinstance(only, ast.Call) or not isinstance(only.func, ast.Attribute):
        return False
    grown = spelled(only.func.value) if only.func.attr in GROWING else ""
    returned = {spelled(_inside(node.value)) for node in function.nodes.returns if node.value is not None}
    return grown in returned


def _inside(value: ast.expr) -> ast.expr:
    """Return the argument of ``tuple(...)`` or ``list(...)``, else the value itself."""
    wrapped = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in ("tuple", "list")
    return value.args[0] if wrapped and isinstance(value, ast.Call) and len(value.args) == 1 else value


def _cuts_off(test: ast.AST, node: ast.expr) -> bool:
    """Return whether a branch slices by ``-n``, as in ``if n != 0: x = x[:-n]``. For 0 it would cut off everything."""
    if not isinstance(test, (ast.If, ast.IfExp)):
        return False
    bodies: list[ast.AST] = [*test.body] if isinstance(test, ast.If) else [test.body]
    ends = [one.upper for body in bodies for one in ast.walk(body) if isinstance(one, ast.Slice)]
    cut = [end.operand for end in ends if isinstance(end, ast.UnaryOp) and isinstance(end.op, ast.USub)]
    return bool(cut) and spelled(node.left if isinstance(node, ast.Compare) else node) in map(spelled, cut)


def _corrects_remainder(test: ast.AST, node: ast.expr) -> bool:
    """Return whether a branch corrects a remainder, as in ``if n % k != 0: x = pad(x, k - n % k)``.

    Such a correction is wrong for a multiple.
    """
    if not isinstance(test, ast.If) or isinstance(test.body[-1], LEAVING) or not _takes_remainder(node):
        return False
    return crops(test) or any(_takes_remainder(one) for one in test.body)


def _takes_remainder(node: ast.AST) -> bool:
    return any(isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mod) for one in ast.walk(node))


def _refuses_otherwise(module: Module, test: ast.AST) -> bool:
    """Return whether the other side raises: in the ``else``, or right after a branch that leaves."""
    if not isinstance(test, ast.If):
        return False
    if test.orelse:
        only = test.orelse[0]
        return _refusal(only) or (len(test.orelse) == 1 and _refuses_otherwise(module, only))
    blocks = (getattr(module.parents[test], name, ()) for name in ("body", "orelse", "finalbody"))
    block = next((one for one in blocks if isinstance(one, list) and test in one), [test])
    behind = block[block.index(test) + 1 :]
    return isinstance(test.body[-1], LEAVING) and bool(behind) and _refusal(behind[0])


def _refusal(node: ast.stmt) -> bool:
    refused = isinstance(node, ast.Return) and isinstance(node.value, ast.Name) and node.value.id == "NotImplemented"
    return refused or isinstance(node, ast.Raise)


def _asked_in_front(module: Module, node: ast.Compare) -> bool:
    """Return whether a preceding comparison has already decided the sizes, as in ``m > n and m % n == 0``."""
    above = module.parents[node]
    if not isinstance(above, ast.BoolOp):
        return False
    asked = {ast.unparse(one) for side in (node.left, *node.comparators) for one in _terms(side)}
    for front in above.values[: above.values.index(node)]:
        ordered = isinstance(front, ast.Compare) and len(front.ops) == 1 and isinstance(front.ops[0], _ORDERS)
        if ordered and isinstance(front, ast.Compare):
            sides = {ast.unparse(front.left), ast.unparse(front.comparators[0])}
            if sides <= asked and not any(isinstance(one, ast.Constant) for one in (front.left, *front.comparators)):
                return True
    return False


def _terms(side: ast.expr) -> Iterator[ast.expr]:
    """Yield the operands of an arithmetic expression."""
    if isinstance(side, ast.BinOp):
        yield from _terms(side.left)
        yield from _terms(side.right)
    else:
        yield side


def _decided_by_loop(flow: Flow, leaf: ConditionLeaf) -> bool:
    """Return whether an enclosing loop decides such a size.

    It does so by its condition, or the leaf chooses the iterable of the loop.
    """
    below: ast.AST = leaf.node
    for above in leaf.place.ancestors:
        if isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return False
        if isinstance(above, (ast.For, ast.AsyncFor)) and below is above.iter:
            return True
        if isinstance(above, ast.While) and below in above.body and forces(above.test, flow):
            return True
        below = above
    return False


def _only_looks(test: ast.AST, leaf: ConditionLeaf) -> bool:
    """Return whether the branch only loops over sizes and returns a constant if one of them is wrong."""
    if not isinstance(test, ast.If) or test.orelse or leaf.place.function is None:
        return False
    inside = [node for one in test.body for node in ast.walk(one)]
    returned = [node for node in inside if isinstance(node, ast.Return)]
    if not returned or not all(_flat_answer(one.value) for one in returned) or isinstance(test.body[-1], ast.Return):
        return False
    if any(isinstance(node, ast.stmt) and not isinstance(node, _LOOKING) for node in inside):
        return False
    bound = {node.id for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    within = {id(node) for node in inside}
    function = leaf.place.function.node
    used = {id(node) for node in ast.walk(function) if isinstance(node, ast.Name) and node.id in bound}
    return used <= within


def _answers_by(leaf: ConditionLeaf, truth: bool) -> bool:
    """Return whether ``truth`` for the leaf makes the function return True or False at once for all sizes.

    That is allowed in a compiler pass, and in a function whose name ends in ``_or_false`` or ``_or_true``.
    """
    test, function = leaf.test, leaf.place.function
    if not isinstance(test, ast.If) or leaf.no_branch is None or truth is leaf.no_branch:
        return False
    last = test.body[-1]
    if not isinstance(last, ast.Return) or not _flat_answer(last.value):
        return False
    if _with_constant(leaf.node) or {"fx_passes", "_inductor"} & set(leaf.place.module.source.path.parts):
        return False
    return function is None or not function.node.name.endswith(("_or_false", "_or_true"))


def _flat_answer(value: ast.expr | None) -> bool:
    """Return whether a value is ``False`` or ``True``, or a tuple that begins with one."""
    first = value.elts[0] if isinstance(value, ast.Tuple) and value.elts else value
    return isinstance(first, ast.Constant) and isinstance(first.value, bool)


def _with_constant(node: ast.expr) -> bool:
    """Return whether a comparison has an integer constant on one side."""
    return not isinstance(node, ast.Call) and any(
        isinstance(one, ast.Constant) and isinstance(one.value, int)
        for one in ([node.left, *node.comparators] if isinstance(node, ast.Compare) else ())
    )
