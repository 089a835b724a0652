"""Sizes in Inductor's lowerings, which are ``sympy`` expressions, kept symbolic or estimated."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Safety
from ...codemods.torchapi.releases import available
from ..analysis.types.sizevars import SIZEVARS, is_request
from ..rewrite.findings import fix
from ..syntax.module import Module
from ..syntax.tree import literal
from .local_functions import is_name

_GUARDED, _HINTED, _ESTIMATED = "guard_int", "guarding_hint_or_throw", "optimization_hint"
_DIVIDED = "FloorDiv"
_DIVISION = f"torch.utils._sympy.functions.{_DIVIDED}"
_COSTS = ("mark_reuse", "realize_hint")
"""Methods of Inductor's tensors that only decide when a result is stored."""


def floored_size(rule: str, module: Module, call: ast.Call, context: Context) -> Iterator[Fix]:
    """Yield the fix ``sizevars.guard_int(size) // 2`` → ``FloorDiv(size, 2)``.

    The quotient is only passed on to other functions. Python compares expressions by their form, not by their value.
    """
    divided = module.parents.get(call)
    if not (
        is_request(call, _GUARDED)
        and isinstance(divided, ast.BinOp)
        and isinstance(divided.op, ast.FloorDiv)
        and divided.left is call
        and (literal(divided.right) or 0) > 0
        and module.names.meaning_of_name(_DIVIDED, divided) == _DIVISION
        and all(_is_passed_on(module, use) for use in _uses(module, divided))
    ):
        return
    size, divisor = module.text(call.args[0]).decode(), module.text(divided.right).decode()
    edit = Edit(*module.span(divided), f"{_DIVIDED}({size}, {divisor})".encode())
    message = f"`{size}` stays an expression"
    yield fix(rule, module.place(call), [edit], message, (), (), Safety.UNSAFE)


def _uses(module: Module, value: ast.expr) -> list[ast.AST]:
    """Return a value and the uses of the name to which a statement assigns it."""
    statement, function = module.parents[value], module.function_of(value)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if not isinstance(target, ast.Name) or function is None:
        return [value]
    return [one for one in ast.walk(function.node) if is_name(one, target.id) and one is not target]


def _is_passed_on(module: Module, value: ast.AST) -> bool:
    """Return whether a value only enters arithmetic whose result is an argument of a function that is not built in."""
    above = module.parents[value]
    while isinstance(above, ast.BinOp | ast.UnaryOp | ast.keyword):
        value, above = above, module.parents[above]
    if not isinstance(above, ast.Call) or above.func is value:
        return False
    return not (module.names.meaning(above.func) or "").startswith("builtins.")


def estimated_cost(rule: str, module: Module, call: ast.Call, context: Context) -> Iterator[Fix]:
    """Yield the fix that estimates the sizes by which an ``if`` decides only when a result is stored.

    ``if sizevars.guarding_hint_or_throw(n) > 0: x.mark_reuse(…)`` reads the sizes by ``optimization_hint`` then.
    """
    branch: ast.AST | None = call
    while branch is not None and not isinstance(branch, ast.If):
        branch = module.parents.get(branch)
    named = branch is not None and any(isinstance(one, ast.NamedExpr) for one in ast.walk(branch))
    if not is_request(call, _HINTED) or branch is None or named or not _only_costs(branch):
        return
    if not available(f"{SIZEVARS}.{_ESTIMATED}", context.min_torch, context.api):
        return
    requests = [one for one in ast.walk(branch) if isinstance(one, ast.Call) and is_request(one, _HINTED)]
    ends = [module.span(one.func)[1] for one in requests]
    edits = [Edit(end - len(_HINTED), end, _ESTIMATED.encode()) for end in ends]
    message = "a choice that only costs speed takes an estimate"
    words = "an undecided size is estimated: it decides only when a result is stored"
    yield fix(
        rule,
        module.place(call),
        edits,
        message,
        (),
        [words],
        Safety.UNSAFE,
    )


def _only_costs(branch: ast.If) -> bool:
    """Return whether the body of an ``if`` only calls methods that decide when a result is stored."""
    calls = [one.value for one in branch.body if isinstance(one, ast.Expr)]
    methods = [one.func.attr for one in calls if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute)]
    return not branch.orelse and len(methods) == len(branch.body) and set(methods) <= set(_COSTS)
