"""Sizes in Inductor's lowerings, which are ``sympy`` expressions, kept symbolic."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Safety
from ..analysis.types.sizevars import UNDECIDED, is_request, request
from ..rewrite.findings import fix
from ..rewrite.qualified_names import spell
from ..syntax.module import Module
from ..syntax.tree import literal
from .local_functions import is_name

_GUARDED, _GUARDED_ALL = "guard_int", "guard_int_seq"
_DIVIDED, _SIZE = "FloorDiv", "size"
_FUNCTIONS = "torch.utils._sympy.functions"
_EXTREMA = {"evaluate_min": "Min", "evaluate_max": "Max"}


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
        and module.names.meaning_of_name(_DIVIDED, divided) == f"{_FUNCTIONS}.{_DIVIDED}"
        and all(_is_passed_on(module, use) for use in _uses(module, divided))
    ):
        return
    size, divisor = module.text(call.args[0]).decode(), module.text(divided.right).decode()
    edit = Edit(*module.span(divided), f"{_DIVIDED}({size}, {divisor})".encode())
    message = f"`{size}` stays an expression"
    yield fix(rule, module.place(call), [edit], message, (), (), Safety.UNSAFE)


def symbolic_clamp(rule: str, module: Module, call: ast.Call, context: Context) -> Iterator[Fix]:
    """Yield the fix ``sizevars.evaluate_min(m, n)`` → ``Min(m, n)``, nested requests included.

    The smaller or larger size is only passed on to other functions.
    """
    within = module.parents.get(call)
    if request(call) not in _EXTREMA or (isinstance(within, ast.Call) and request(within) in _EXTREMA):
        return
    requests = [one for one in ast.walk(call) if isinstance(one, ast.Call) and request(one) in _EXTREMA]
    spelled = [spell(module, one, f"{_FUNCTIONS}.{_EXTREMA[request(one)]}", context) for one in requests]
    named = [one for one in spelled if one is not None]
    plain = all(len(one.args) == 2 and not one.keywords for one in requests)
    if not plain or len(named) < len(requests) or not all(_is_passed_on(module, use) for use in _uses(module, call)):
        return
    edits = [Edit(*module.span(one.func), name.text.encode()) for one, name in zip(requests, named, strict=True)]
    needs = tuple(dict.fromkeys(need for one in named for need in one.needs))
    message = "the smaller or larger size stays an expression"
    yield fix(rule, module.place(call), sorted(edits), message, needs, (), Safety.UNSAFE)


def undecided_sizes(rule: str, module: Module, call: ast.Call, context: Context) -> Iterator[Fix]:
    """Yield the fix that keeps the undecided ones of several sizes as expressions.

    ``*sizes, n = sizevars.guard_int_seq(all)`` guards each size that is decided, as before. A statement that only
    guards does so where all are decided.
    """
    statement, undecided = module.parents.get(call), spell(module, call, UNDECIDED, context)
    if not is_request(call, _GUARDED_ALL) or undecided is None or not isinstance(statement, ast.Assign | ast.Expr):
        return
    sizes, words, indent = module.text(call.args[0]).decode(), [], module.indentation(statement)
    if any(isinstance(one, ast.Name) and one.id == _SIZE for one in ast.walk(call.func)):
        return
    if isinstance(statement, ast.Expr):
        text = module.text(call).decode()
        if indent is None or not _ends_its_line(module, statement):
            return
        lines = [f"if not {undecided.text}({sizes}):", f"{module.unit_of_indentation(statement)}{text}"]
    elif len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Tuple):
        inner = module.unit_of_indentation(statement)
        guarded = module.text(call.func).decode().removesuffix("_seq")
        choice = f"{_SIZE} if {undecided.text}({_SIZE}) else {guarded}({_SIZE})"
        lines = ["(", f"{inner}{choice}", f"{inner}for {_SIZE} in {sizes}", ")"]
        words = ["an undecided size counts as different from each number to which it is compared"]
    else:
        return
    edit = Edit(*module.span(call), f"{module.newline}{indent or ''}".join(lines).encode())
    message = f"undecided ones of `{sizes}` stay expressions"
    yield fix(rule, module.place(call), [edit], message, undecided.needs, words, Safety.UNSAFE)


def _ends_its_line(module: Module, statement: ast.stmt) -> bool:
    """Return whether nothing but a comment comes after a statement in its line."""
    rest = module.source.content[module.span(statement)[1] :].partition(b"\n")[0]
    return not rest.strip() or rest.strip().startswith(b"#")


def _uses(module: Module, value: ast.expr) -> list[ast.AST]:
    """Return a value, or the reads of the name to which a statement assigns it."""
    statement, function = module.parents[value], module.function_of(value)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if not isinstance(target, ast.Name) or function is None:
        return [value]
    named = [one for one in ast.walk(function.node) if is_name(one, target.id)]
    return [one for one in named if one not in getattr(module.parents[one], "targets", ())]


def _is_passed_on(module: Module, value: ast.AST) -> bool:
    """Return whether a value only enters arithmetic whose result is an argument of a function that is not built in."""
    above = module.parents[value]
    while isinstance(above, ast.BinOp | ast.UnaryOp | ast.keyword | ast.List):
        value, above = above, module.parents[above]
    if not isinstance(above, ast.Call) or above.func is value:
        return False
    return not (module.names.meaning(above.func) or "").startswith("builtins.")
