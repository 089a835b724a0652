"""Choices in Inductor's lowerings that undecided sizes do not stop: estimates, and torch's own kernel."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Safety
from ...codemods.torchapi.releases import available
from ..analysis.types.sizevars import SIZEVARS, UNDECIDED, is_request
from ..rewrite.findings import fix
from ..rewrite.qualified_names import spell
from ..syntax.module import Module
from .local_functions import is_name

_GUARDED, _HINTED, _ESTIMATED = "guard_int", "guarding_hint_or_throw", "optimization_hint"
_ALL_HINTED, _ALL_ESTIMATED = "guarding_hints_or_throw", "optimization_hints"
_COSTS = ("mark_reuse", "realize_hint")
"""Methods of Inductor's tensors that only decide when a result is stored."""
_ORDERS = ("get_stride_order", "get_fill_order")
"""Functions of ``torch._inductor.ir`` that read only the order of strides."""
_FALLBACK = "fallback_handler"


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
    yield fix(rule, module.place(call), edits, message, (), [words], Safety.UNSAFE)


def _only_costs(branch: ast.If) -> bool:
    """Return whether the body of an ``if`` only calls methods that decide when a result is stored."""
    calls = [one.value for one in branch.body if isinstance(one, ast.Expr)]
    methods = [one.func.attr for one in calls if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute)]
    return not branch.orelse and len(methods) == len(branch.body) and set(methods) <= set(_COSTS)


def estimated_order(rule: str, module: Module, call: ast.Call, context: Context) -> Iterator[Fix]:
    """Yield the fix that estimates strides of which only the order is read.

    ``get_stride_order(sizevars.guarding_hints_or_throw(strides))`` reads them by ``optimization_hints`` then.
    """
    if not is_request(call, _ALL_HINTED) or not _is_ordered(module, call):
        return
    if not available(f"{SIZEVARS}.{_ALL_ESTIMATED}", context.min_torch, context.api):
        return
    end = module.span(call.func)[1]
    edit = Edit(end - len(_ALL_HINTED), end, _ALL_ESTIMATED.encode())
    words = f"the order of undecided `{module.text(call.args[0]).decode()}` is estimated"
    message = "an order of strides takes an estimate"
    yield fix(rule, module.place(call), [edit], message, (), [words], Safety.UNSAFE)


def _is_ordered(module: Module, call: ast.Call) -> bool:
    """Return whether only the order and the number of the values that a call returns are read."""
    above = module.parents[call]
    if isinstance(above, ast.Call):
        return ast.unparse(above.func).rpartition(".")[2] in _ORDERS
    function = module.function_of(call)
    if not isinstance(above, ast.Assign) or len(above.targets) != 1 or function is None:
        return False
    name = above.targets[0]
    if not isinstance(name, ast.Name):
        return False
    uses = [one for one in ast.walk(function.node) if is_name(one, name.id) and one is not name]
    return all(use in list(ast.walk(call)) or _is_order_of(module, use) for use in uses)


def _is_order_of(module: Module, use: ast.AST) -> bool:
    """Return whether a name is read for its length, or as the key of a sort of its indices."""
    above = module.parents[use]
    if isinstance(above, ast.Call):
        return use in above.args and module.names.meaning(above.func) == "builtins.len"
    key = module.parents[above]
    by_item = isinstance(above, ast.Attribute) and above.attr == "__getitem__" and isinstance(key, ast.keyword)
    ordered = module.parents[key]
    return by_item and isinstance(ordered, ast.Call) and module.names.meaning(ordered.func) == "builtins.sorted"


def early_fallback(rule: str, module: Module, call: ast.Call, context: Context) -> Iterator[Fix]:
    """Yield the fix that runs torch's own kernel for undecided sizes, where the lowering has that way out.

    ``n = sizevars.guard_int(n)``, with its neighbours of this form, comes after
    ``if has_free_unbacked_symbols(n): return fallback(x)``.
    """
    statement, function = module.parents.get(call), module.function_of(call)
    undecided = spell(module, call, UNDECIDED, context)
    if undecided is None or function is None:
        return
    body = function.node.body
    if not isinstance(statement, ast.stmt) or _requested(statement) is None or statement not in body:
        return
    returns = (one for one in ast.walk(function.node) if module.function_of(one) is function)
    fallback = next(filter(None, (_fallback(module, function.node, one) for one in returns)), None)
    if fallback is None or fallback.lineno < statement.lineno:
        return
    first, last = body.index(statement), body.index(statement) + 1
    while first and _requested(body[first - 1]):
        first -= 1
    while last < len(body) and _requested(body[last]):
        last += 1
    if any(_reads_stored(one, body[first:at]) for at, one in enumerate(body[first:last], first)):
        return
    requests = [module.text(one.args[0]).decode() for one in map(_requested, body[first:last]) if one is not None]
    sizes = f"[{', '.join(requests)}]" if len(requests) > 1 else requests[0]
    indent, unit = module.indentation(body[first]), module.unit_of_indentation(body[first])
    if indent is None:
        return
    start = module.span(body[first])[0]
    lines = (f"if {undecided.text}({sizes}):", f"{unit}{module.text(fallback).decode()}", "")
    edit = Edit(start, start, f"{module.newline}{indent}".join(lines).encode())
    message = "undecided sizes take the fallback of the lowering"
    yield fix(rule, module.place(call), [edit], message, undecided.needs, (), Safety.UNSAFE)


def _requested(statement: ast.stmt) -> ast.Call | None:
    """Return the request of a concrete size that a statement assigns, if it does no more."""
    value = statement.value if isinstance(statement, ast.Assign) else None
    return value if isinstance(value, ast.Call) and is_request(value, _GUARDED) else None


def _reads_stored(statement: ast.stmt, before: Sequence[ast.stmt]) -> bool:
    """Return whether a statement reads a name that an earlier one stores."""
    names = [part for one in before for part in ast.walk(one) if isinstance(part, ast.Name)]
    stored = {one.id for one in names if isinstance(one.ctx, ast.Store)}
    return any(isinstance(one, ast.Name) and one.id in stored for one in ast.walk(statement))


def _fallback(module: Module, function: ast.FunctionDef | ast.AsyncFunctionDef, node: ast.AST) -> ast.Return | None:
    """Return a statement that returns a fallback of the function's own arguments, as they were given."""
    called = node.value if isinstance(node, ast.Return) else None
    if not isinstance(called, ast.Call) or not isinstance(called.func, ast.Name):
        return None
    made = [
        one.value
        for one in module.tree.body
        if isinstance(one, ast.Assign) and any(is_name(target, called.func.id) for target in one.targets)
    ]
    if len(made) != 1 or not isinstance(made[0], ast.Call):
        return None
    if ast.unparse(made[0].func).rpartition(".")[2] != _FALLBACK:
        return None
    given = [*called.args, *(keyword.value for keyword in called.keywords)]
    parameters = {one.arg for one in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)}
    names = {one.id for one in given if isinstance(one, ast.Name)}
    stored = {one.id for one in ast.walk(function) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    taken = len(names) == len(given) and names <= parameters - stored
    return node if taken and isinstance(node, ast.Return) else None
