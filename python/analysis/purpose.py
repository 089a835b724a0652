"""What a branch is for: to refuse an input, to save time, or to compute something else."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.engine.source import SourceFile
from ..syntax.module import Module, parse
from ..syntax.tree import GROWING, Function, literal, spelled
from .flow import Flow, flow
from .truths import Leaf, forced_parts, is_scalar_test, leaves, negated, refuses
from .values import Kind

_FLAGS = frozenset({"config", "inductor_config", "torch_config"})


def branches(source: SourceFile) -> Iterator[tuple[Module, Flow, Leaf, bool]]:
    """Every leaf of a branch that does more than raise, and whether not taking the branch only costs time."""
    module = parse(source)
    if not module.functions:
        return
    known = flow(module)
    for leaf in leaves(module, known):
        if not only_raises(leaf.test):
            yield module, known, leaf, only_optimizes(module, known, leaf)


def only_raises(test: ast.AST) -> bool:
    """``if ...: raise ...`` without an else refuses inputs: a check, not a branch; the message may have a name."""
    return (
        isinstance(test, ast.If) and not test.orelse and (len(test.body) == 1 or _named_message(test)) and refuses(test)
    )


def _named_message(test: ast.If) -> bool:
    first = test.body[0]
    return len(test.body) == 2 and isinstance(first, ast.Assign) and isinstance(first.targets[0], ast.Name)


def only_optimizes(module: Module, flow: Flow, leaf: Leaf) -> bool:
    """Not taking the branch costs time and nothing else, so an undecided size need not be guarded on."""
    if in_optimization_pass(module) and compares_order(leaf.node):
        return True
    return depends_on_tuning(module, leaf.node) or scalar_shortcut(flow, leaf)


def in_optimization_pass(module: Module) -> bool:
    """A graph pass may always leave the graph as it is."""
    return "fx_passes" in module.source.path.parts


def compares_order(node: ast.AST) -> bool:
    """A threshold, not a special case such as an empty tensor."""
    compared = node.args[0] if isinstance(node, ast.Call) and node.args else node
    ordered = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
    return isinstance(compared, ast.Compare) and isinstance(compared.ops[0], ordered)


def decides_arity(test: ast.If, function: Function | None) -> bool:
    """``return ()`` on one side, or one more in a list that is returned: the size says how many results there are."""
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
    """What ``tuple(...)`` or ``list(...)`` is given."""
    wrapped = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in ("tuple", "list")
    return value.args[0] if wrapped and isinstance(value, ast.Call) and len(value.args) == 1 else value


def cuts_off(test: ast.AST, node: ast.expr) -> bool:
    """``if n != 0: x = x[:-n]``: for 0 the branch would cut off everything."""
    if not isinstance(test, (ast.If, ast.IfExp)):
        return False
    size = spelled(node.left if isinstance(node, ast.Compare) else node)
    bodies: list[ast.AST] = [*test.body] if isinstance(test, ast.If) else [test.body]
    return any(
        isinstance(one, ast.Slice)
        and isinstance(one.upper, ast.UnaryOp)
        and isinstance(one.upper.op, ast.USub)
        and spelled(one.upper.operand) == size
        for body in bodies
        for one in ast.walk(body)
    )


def corrects_remainder(test: ast.AST, node: ast.expr) -> bool:
    """``if n % k != 0: x = pad(x, k - n % k)``: what is done for a remainder is not what a multiple needs."""
    if not isinstance(test, ast.If) or isinstance(test.body[-1], _LEAVING) or not _takes_remainder(node):
        return False
    return crops(test) or any(_takes_remainder(one) for one in test.body)


def _takes_remainder(node: ast.AST) -> bool:
    return any(isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mod) for one in ast.walk(node))


def tells_kinds_apart(test: ast.AST, node: ast.Compare, constant: int | None) -> bool:
    """``if x.shape[-1] == 3: ...``: 3 says what kind of input this is, where the branch is no shortcut that returns."""
    if constant is None or constant < 2 or not isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
        return False
    return isinstance(test, ast.IfExp) or (isinstance(test, ast.If) and not isinstance(test.body[-1], _LEAVING))


def crops(test: ast.AST) -> bool:
    """``if x.shape != y.shape: x = x[:, :-1]``: equal shapes would be cut too."""
    if not isinstance(test, ast.If) or isinstance(test.body[-1], _LEAVING):
        return False
    slices = [one for body in test.body for one in ast.walk(body) if isinstance(one, ast.Slice)]
    return any(literal(end) not in (None, 0) for one in slices for end in (one.lower, one.upper) if end is not None)


def divided_by_difference(function: Function | None, left: ast.expr, right: ast.expr) -> bool:
    """``if low == high: ...; x / (high - low)``: the case that is set apart would divide by zero."""
    sides = {ast.unparse(left), ast.unparse(right)}
    if function is None:
        return False

    every = function.nodes.every
    divisors: list[ast.expr] = [one.right for one in every(ast.BinOp) if isinstance(one.op, _DIVIDING)]
    divisors += [one.value for one in every(ast.AugAssign) if isinstance(one.op, _DIVIDING)]
    named = {one.id for divisor in divisors for one in ast.walk(divisor) if isinstance(one, ast.Name)}
    divisors += [one.value for one in every(ast.Assign) if spelled(one.targets[0]) in named]
    return any(
        isinstance(one, ast.BinOp)
        and isinstance(one.op, ast.Sub)
        and {ast.unparse(one.left), ast.unparse(one.right)} == sides
        for divisor in divisors
        for one in ast.walk(divisor)
    )


_DIVIDING = (ast.Div, ast.FloorDiv, ast.Mod)


def refuses_otherwise(module: Module, test: ast.AST) -> bool:
    """``if n == m: ...`` and else a ``raise``: in the ``else``, or right behind a branch that leaves."""
    if not isinstance(test, ast.If):
        return False
    if test.orelse:
        only = test.orelse[0]
        return _refusal(only) or (len(test.orelse) == 1 and refuses_otherwise(module, only))
    blocks = (getattr(module.parents[test], name, ()) for name in ("body", "orelse", "finalbody"))
    block = next((one for one in blocks if isinstance(one, list) and test in one), [test])
    behind = block[block.index(test) + 1 :]
    return isinstance(test.body[-1], _LEAVING) and bool(behind) and _refusal(behind[0])


def _refusal(node: ast.stmt) -> bool:
    refused = isinstance(node, ast.Return) and isinstance(node.value, ast.Name) and node.value.id == "NotImplemented"
    return refused or isinstance(node, ast.Raise)


_LEAVING = (ast.Return, ast.Continue, ast.Break)


def place_in_loop(function: Function | None, node: ast.Compare) -> bool:
    """``for i in range(n): ... i == n - 1``: the loop comes to every place, so none is the general one."""
    if function is None:
        return False
    places = {
        one.target.id
        for one in function.nodes.every(ast.For)
        if isinstance(one.target, ast.Name) and isinstance(one.iter, ast.Call) and spelled(one.iter.func) == "range"
    }
    return any(isinstance(side, ast.Name) and side.id in places for side in (node.left, *node.comparators))


_COMPILING = (
    "torch.compiler.is_compiling",
    "torch.compiler.is_dynamo_compiling",
    "torch._dynamo.is_compiling",
    "torch._utils.is_compiling",
)


EAGER_ONLY = ("host-code", "this code does not run while torch compiles, so no undecided size reaches it")


def eager_only(module: Module, node: ast.expr) -> bool:
    """``not torch.compiler.is_compiling()`` stands in a condition around, or in front of it under the same ``and``."""
    below: ast.AST = node
    for above in module.place(node).ancestors:
        conditions: list[ast.expr] = []
        if isinstance(above, ast.BoolOp) and isinstance(above.op, ast.And) and isinstance(below, ast.expr):
            conditions = above.values[: above.values.index(below)]
        elif isinstance(above, ast.If) and below in above.body:
            conditions = above.test.values if isinstance(above.test, ast.BoolOp) else [above.test]
            if isinstance(above.test, ast.BoolOp) and isinstance(above.test.op, ast.Or):
                conditions = []
        if any(_refuses_compiling(module, one) for one in conditions):
            return True
        below = above
    return False


def _refuses_compiling(module: Module, condition: ast.expr) -> bool:
    call = condition.operand if isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Not) else None
    return isinstance(call, ast.Call) and module.names.meaning(call.func) in _COMPILING


def asked_in_front(module: Module, node: ast.Compare) -> bool:
    """``m > n and m % n == 0``: the order of the two has been decided where the second comparison is evaluated."""
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
    """What an arithmetic expression is made of."""
    if isinstance(side, ast.BinOp):
        yield from _terms(side.left)
        yield from _terms(side.right)
    else:
        yield side


_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def decided_by_loop(module: Module, flow: Flow, node: ast.expr) -> bool:
    """A loop around decides: its condition compares sizes, or this chooses what it goes through."""
    below: ast.AST = node
    for above in module.place(node).ancestors:
        if isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return False
        if isinstance(above, (ast.For, ast.AsyncFor)) and below is above.iter:
            return True
        if isinstance(above, ast.While) and below in above.body and any(True for _ in forced_parts(above.test, flow)):
            return True
        below = above
    return False


def only_looks(test: ast.AST, leaf: Leaf) -> bool:
    """The branch computes nothing: it goes through sizes and returns a flat answer where one of them is amiss."""
    if not isinstance(test, ast.If) or test.orelse or leaf.function is None:
        return False
    inside = [node for one in test.body for node in ast.walk(one)]
    returned = [node for node in inside if isinstance(node, ast.Return)]
    if not returned or not all(_flat_answer(one.value) for one in returned) or isinstance(test.body[-1], ast.Return):
        return False
    if any(isinstance(node, ast.stmt) and not isinstance(node, _LOOKING) for node in inside):
        return False
    bound = {node.id for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    within = {id(node) for node in inside}
    function = leaf.function.node
    used = {id(node) for node in ast.walk(function) if isinstance(node, ast.Name) and node.id in bound}
    return used <= within


_LOOKING = (ast.For, ast.If, ast.Assign, ast.Continue, ast.Break, ast.Pass, ast.Return)


def answers_by(module: Module, leaf: Leaf, truth: bool) -> bool:
    """Taking ``leaf`` for ``truth``, the function answers yes or no at once, though two sizes may be equal or not.

    A pass of the compiler may always answer no, and so may a function whose name says what it answers then.
    """
    test = leaf.test
    no_branch = negated(test, leaf.node)
    if not isinstance(test, ast.If) or no_branch is None or truth is no_branch:
        return False
    last = test.body[-1]
    if not isinstance(last, ast.Return) or not _flat_answer(last.value):
        return False
    if _with_constant(leaf.node) or {"fx_passes", "_inductor"} & set(module.source.path.parts):
        return False
    return leaf.function is None or not leaf.function.node.name.endswith(("_or_false", "_or_true"))


def _flat_answer(value: ast.expr | None) -> bool:
    """``False``, or ``False`` and where."""
    first = value.elts[0] if isinstance(value, ast.Tuple) and value.elts else value
    return isinstance(first, ast.Constant) and isinstance(first.value, bool)


def _with_constant(node: ast.expr) -> bool:
    """A comparison with 0 or 1: every size but these two is general."""
    return not isinstance(node, ast.Call) and any(
        isinstance(one, ast.Constant) and isinstance(one.value, int)
        for one in ([node.left, *node.comparators] if isinstance(node, ast.Compare) else ())
    )


def depends_on_tuning(module: Module, node: ast.AST) -> bool:
    """The branch is there on one kind of device, or with a tuning flag, only: the result cannot depend on it."""
    below: ast.AST = node
    for above in module.place(node).ancestors:
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
    """``x.device.type == "cpu"``."""
    return (
        isinstance(node, ast.Compare)
        and isinstance(node.left, ast.Attribute)
        and node.left.attr == "type"
        and isinstance(node.left.value, ast.Attribute)
        and node.left.value.attr == "device"
    )


def _flag(node: ast.expr) -> bool:
    """``config.coordinate_descent_tuning``."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in _FLAGS


def _returns(statement: ast.If) -> bool:
    return any(isinstance(node, ast.Return) for one in statement.body for node in ast.walk(one))


def scalar_shortcut(flow: Flow, leaf: Leaf) -> bool:
    """A number the user gave is compared with a float, for a cheaper formula that returns at once."""
    returns = isinstance(leaf.test, ast.If) and isinstance(leaf.test.body[-1], ast.Return)
    if not flow.module.own_tree and Kind.TENSOR not in flow.scope_of(leaf.node).held.values():
        return False
    return returns and is_scalar_test(leaf.node, flow)
