"""What a branch is for: to refuse an input, to save time, or to compute something else."""

from __future__ import annotations

import ast

from ._flow import Flow
from ._module import Module
from ._truths import Leaf, is_scalar_test, refuses

_FLAGS = frozenset({"config", "inductor_config", "torch_config"})


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


def depends_on_tuning(module: Module, node: ast.AST) -> bool:
    """The branch is there on one kind of device, or with a tuning flag, only: the result cannot depend on it."""
    below: ast.AST = node
    for above in module.ancestors(node):
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
    return returns and is_scalar_test(leaf.node, flow)
