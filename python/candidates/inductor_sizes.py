"""Sizes in Inductor's lowerings, which are ``sympy`` expressions, kept symbolic or estimated."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Safety
from ...codemods.torchapi.releases import available
from ..rewrite.findings import fix
from ..syntax.module import Module
from ..syntax.tree import literal

_HOME = "torch._inductor.sizevars.SizeVarAllocator"
_GUARDED, _HINTED, _ESTIMATED = "guard_int", "guarding_hint_or_throw", "optimization_hint"
_DIVIDED = "FloorDiv"
_COSTS = ("mark_reuse", "realize_hint")
"""Methods of Inductor's tensors that only decide when a result is stored."""


def is_request(call: ast.Call, method: str) -> bool:
    """Return whether a call is ``sizevars.method(size)``."""
    func = call.func
    named = isinstance(func, ast.Attribute) and func.attr == method and not call.keywords and len(call.args) == 1
    return named and isinstance(func, ast.Attribute) and ast.unparse(func.value).rpartition(".")[2] == "sizevars"


def floored_size(rule: str, module: Module, call: ast.Call, context: Context) -> Iterator[Fix]:
    """Yield the fix ``sizevars.guard_int(size) // 2`` → ``FloorDiv(size, 2)``."""
    divided = module.parents.get(call)
    if not (
        is_request(call, _GUARDED)
        and isinstance(divided, ast.BinOp)
        and isinstance(divided.op, ast.FloorDiv)
        and divided.left is call
        and (literal(divided.right) or 0) > 0
        and _DIVIDED in module.names.imports
    ):
        return
    size, divisor = module.text(call.args[0]).decode(), module.text(divided.right).decode()
    edit = Edit(*module.span(divided), f"{_DIVIDED}({size}, {divisor})".encode())
    message = f"`{size}` stays an expression"
    yield fix(rule, module.place(call), [edit], message, (), ["the code is generated for every size"], Safety.UNSAFE)


def estimated_cost(rule: str, module: Module, call: ast.Call, context: Context) -> Iterator[Fix]:
    """Yield the fix that estimates the sizes by which an ``if`` decides only when a result is stored.

    ``if sizevars.guarding_hint_or_throw(n) > 0: x.mark_reuse(…)`` reads the sizes by ``optimization_hint`` then.
    """
    branch: ast.AST | None = call
    while branch is not None and not isinstance(branch, ast.If):
        branch = module.parents.get(branch)
    if not is_request(call, _HINTED) or branch is None or not _only_costs(branch):
        return
    if not available(f"{_HOME}.{_ESTIMATED}", context.min_torch, context.api):
        return
    requests = [one for one in ast.walk(branch) if isinstance(one, ast.Call) and is_request(one, _HINTED)]
    ends = [module.span(one.func)[1] for one in requests]
    edits = [Edit(end - len(_HINTED), end, _ESTIMATED.encode()) for end in ends]
    message = "a choice that only costs speed takes an estimate"
    yield fix(rule, module.place(call), edits, message, (), ["results do not depend on the estimate"], Safety.UNSAFE)


def _only_costs(branch: ast.If) -> bool:
    """Return whether the body of an ``if`` only calls methods that decide when a result is stored."""
    calls = [one.value for one in branch.body if isinstance(one, ast.Expr)]
    methods = [one.func.attr for one in calls if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute)]
    return not branch.orelse and len(methods) == len(branch.body) and set(methods) <= set(_COSTS)
