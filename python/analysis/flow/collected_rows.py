"""Lists that a loop fills by one value in each step, and that one call joins to a tensor."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from ...syntax.module import Module
from ...syntax.tree import literal
from ..types.cannot_rewrite import CannotRewrite
from .blocks import following, given_by
from .row_steps import RowSteps, StepLoop, steps_of

_JOINS = {
    "torch.stack": "stack",
    "torch.cat": "cat",
    "torch.concat": "cat",
    "torch.concatenate": "cat",
}
_LAZY = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)


@dataclass(frozen=True)
class Collected:
    """A list of one value for each step, and the call that joins it."""

    steps: RowSteps
    value: ast.expr
    """The value of a step."""
    body: Sequence[ast.stmt]
    """The statements of a step before the value is appended."""
    behind: Sequence[ast.stmt]
    """The statements of a step after that."""
    statements: Sequence[ast.stmt]
    """The statements from the loop to the one that joins."""
    join: ast.Call
    stacks: bool
    """True for ``torch.stack``, False for ``torch.cat``."""
    dimension: int

    @property
    def is_one_value(self) -> bool:
        """Return whether a step does nothing but give its value."""
        return not self.body and not self.behind


def collected(module: Module, node: StepLoop) -> Collected | None:
    """Return the list that a loop or comprehension fills, or None for another loop. Raises CannotRewrite."""
    steps = steps_of(module, node)
    if steps is None:
        return None
    if not isinstance(node, ast.For):
        return _comprehended(module, node, steps)
    added = [(at, call) for at, one in enumerate(steps.body) if (call := _appended(one)) is not None]
    if len(added) != 1:
        return None
    ((at, call),) = added
    assert isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name)
    name = call.func.value.id
    if not _is_new_list(module, node, name):
        raise CannotRewrite("changes-container", f"at line {call.lineno} `{name}` is no list that begins empty here")
    if sum(isinstance(one, ast.Name) and one.id == name for one in ast.walk(node)) > 1:
        raise CannotRewrite("step-depends", f"at line {call.lineno} a step reads the list `{name}`")
    value = _Value(call.args[0], steps.body[:at], steps.body[at + 1 :])
    return _joined(module, steps, value, node, _only_use(module, name, [node]))


@dataclass(frozen=True)
class _Value:
    """A value of a step, and the statements before and behind the one that appends it."""

    node: ast.expr
    before: Sequence[ast.stmt] = ()
    behind: Sequence[ast.stmt] = ()


def _appended(statement: ast.stmt) -> ast.Call | None:
    """Return the call of a statement that appends one value to a list that has a name."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or len(call.args) != 1:
        return None
    return call if call.func.attr == "append" and isinstance(call.func.value, ast.Name) else None


def _comprehended(module: Module, node: ast.ListComp | ast.GeneratorExp, steps: RowSteps) -> Collected | None:
    above = module.parents[node]
    if isinstance(above, ast.Assign) and len(above.targets) == 1 and isinstance(above.targets[0], ast.Name):
        use = _only_use(module, above.targets[0].id, [above])
        return _joined(module, steps, _Value(node.elt), above, use)
    statement = _statement_of(module, node)
    return None if statement is None else _joined(module, steps, _Value(node.elt), statement, node)


def _joined(module: Module, steps: RowSteps, value: _Value, first: ast.stmt, use: ast.expr | None) -> Collected | None:
    """Return the list with the call that joins it directly behind ``first``, or in it."""
    call = None if use is None else module.parents.get(use)
    if not isinstance(call, ast.Call) or not call.args or call.args[0] is not use:
        return None
    kind = _JOINS.get(module.names.meaning(call.func) or "")
    given = [*call.args[1:], *(one.value for one in call.keywords if one.arg in ("dim", "axis"))]
    if not kind or len(given) != len(call.args) - 1 + len(call.keywords) or len(given) > 1:
        return None
    dimension = literal(given[0]) if given else 0
    last = _statement_of(module, call)
    if dimension is None or last is None or any(isinstance(one, _LAZY) for one in module.place(call).of_expression):
        return None
    statements = [first] if first is last else [first, *following(module, first)[:1]]
    if statements[-1] is not last or not isinstance(last, (ast.Assign, ast.Return, ast.Expr, ast.AugAssign)):
        raise CannotRewrite("changes-container", f"at line {last.lineno} the list is joined only further down")
    return Collected(steps, value.node, value.before, value.behind, statements, call, kind == "stack", dimension)


def _statement_of(module: Module, node: ast.AST) -> ast.stmt | None:
    return next((one for one in module.place(node).ancestors if isinstance(one, ast.stmt)), None)


def _is_new_list(module: Module, loop: ast.For, name: str) -> bool:
    """Return whether a name is an empty list where the loop begins, made in the same block."""
    above = module.parents[loop]
    block = next(block for _, block in ast.iter_fields(above) if isinstance(block, list) and loop in block)
    for one in reversed(block[: block.index(loop)]):
        given = list(given_by(one, name)) if isinstance(one, ast.Assign) else []
        if given:
            return [ast.unparse(value) for value in given] in (["[]"], ["list()"])
        if isinstance(one, ast.AnnAssign) and ast.unparse(one.target) == name:
            return one.value is not None and ast.unparse(one.value) in ("[]", "list()")
        if any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(one)):
            return False
    return False


def _only_use(module: Module, name: str, inside: Sequence[ast.stmt]) -> ast.Name | None:
    """Return the one read of a list outside of some statements, or None if there are several."""
    function = module.function_of(inside[0])
    within = {id(one) for statement in inside for one in ast.walk(statement)}
    parts = ast.walk(module.tree if function is None else function.node)
    uses = [one for one in parts if isinstance(one, ast.Name) and one.id == name and id(one) not in within]
    reads = [one for one in uses if isinstance(one.ctx, ast.Load)]
    return reads[0] if len(reads) == 1 else None
