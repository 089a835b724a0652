"""Branches that are decided while torch compiles because they change nothing: only warnings, or neutral amounts."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Safety, Skip
from ..analysis.decisions.comparisons import integer
from ..analysis.types.cannot_rewrite import CannotRewrite
from ..rewrite.change_types import Change, OrElse, Unless
from ..rewrite.edits import edited
from ..rewrite.findings import change, fix
from ..rewrite.qualified_names import COMPILING, spell
from ..syntax.module import Module

_TELLING = ("warnings.warn", "builtins.print")
_LEVELS = frozenset({"debug", "info", "warning", "warn", "warning_once", "warn_once", "error", "critical", "log"})
"""Methods of loggers. In other objects, methods with these names may raise or store something."""


def told_in_eager(rule: str, module: Module, node: ast.If, context: Context) -> Iterator[Fix]:
    """Yield the fix that decides a warning only in eager.

    ``if c: warnings.warn(m)`` → ``if not torch.compiler.is_compiling() and c: warnings.warn(m)``.
    """
    compiling = spell(module, node, COMPILING, context)
    if node.orelse or compiling is None or not only_tells(module, node.body) or _asks_compiling(node.test):
        return
    text = module.text(node.test).decode()
    message = f"`{text}` only decides about a message: ask it in eager"
    words = f"a program does not tell of `{text}`"
    yield from _decided(rule, module, node, Unless(compiling.text), message, words, compiling.needs)


def always_cropped(rule: str, module: Module, node: ast.If, context: Context) -> Iterator[Fix]:
    """Yield the fix ``if x.shape[0] > n: x = x[:n]`` → ``x = x[:n]``. A slice beyond the end is the whole."""
    only, test = node.body[0], node.test
    if node.orelse or len(node.body) > 1 or not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return
    if not isinstance(test.ops[0], (ast.Gt, ast.GtE)) or b"#" in module.text(node) or module.indentation(node) is None:
        return
    limit, size = ast.unparse(test.comparators[0]), ast.unparse(test.left)
    name = ast.unparse(only.targets[0]) if isinstance(only, ast.Assign) and len(only.targets) == 1 else ""
    measured = (f"len({name})", f"{name}.shape[0]", f"{name}.size(0)")
    cropped = isinstance(only, ast.Assign) and ast.unparse(only.value) == f"{name}[:{limit}]"
    if not cropped or size not in measured or module.source.content.startswith(b"elif", module.span(node)[0]):
        return
    words = f"`{limit}` is taken for no negative number"
    edit = Edit(*module.span(node), module.text(only))
    message = f"`{module.text(only).decode()}` is the whole where `{ast.unparse(test)}` is false"
    yield fix(rule, module.place(node), [edit], message, (), [words], Safety.UNSAFE)


def only_tells(module: Module, body: Sequence[ast.stmt]) -> bool:
    """Return whether statements only warn, log or print."""
    calls = [one.value for one in body if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call)]
    return len(calls) == len(body) and all(_tells(module, call.func) for call in calls)


def _tells(module: Module, function: ast.expr) -> bool:
    if module.names.meaning(function) in _TELLING:
        return True
    logger = ast.unparse(function.value).lower() if isinstance(function, ast.Attribute) else ""
    return isinstance(function, ast.Attribute) and function.attr in _LEVELS and "log" in logger.rpartition(".")[2]


def modular_amounts(rule: str, module: Module, node: ast.If, context: Context) -> Iterator[Fix]:
    """Yield the fix that always takes a padding branch while compiling.

    ``if n % k > 0: pad(x, k - n % k)`` → ``if is_compiling() or n % k > 0: pad(x, (k - n % k) % k)``.
    """
    compiling = spell(module, node, COMPILING, context)
    if node.orelse or compiling is None or not assigns_names(node) or _asks_compiling(node.test):
        return
    edits = []
    for one in (part for statement in node.body for part in ast.walk(statement)):
        if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Sub) and _is_rest(module, node.test, one):
            text, step = module.text(one).decode(), module.text(one.left).decode()
            edits.append(Edit(*module.grouped_span(one), f"({text}) % {step}".encode()))
    if not edits:
        return
    try:
        decided = edited(module, node.test, [(node.test, OrElse(compiling.text))])
    except CannotRewrite:
        return
    said = module.text(node.test).decode()
    words = f"while compiling the branch of `{said}` is taken, with an amount of 0 where that is false"
    message = f"take the branch of `{said}` always while compiling"
    yield fix(rule, module.place(node), [decided, *edits], message, compiling.needs, [words], Safety.UNSAFE)


def _is_rest(module: Module, test: ast.expr, amount: ast.BinOp) -> bool:
    """Return whether an amount completes a multiple, and the condition requires that it is not 0."""
    rest, step = amount.right, ast.dump(amount.left)
    function = module.place(test).function
    made = function.assigned_once.get(rest.id) if isinstance(rest, ast.Name) and function is not None else rest
    modular = isinstance(made, ast.BinOp) and isinstance(made.op, ast.Mod) and ast.dump(made.right) == step
    operands = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    return modular and any(_is_not_zero(one, ast.dump(rest)) for one in operands)


def _is_not_zero(condition: ast.expr, rest: str) -> bool:
    """Return whether a condition is ``rest``, ``rest != 0`` or ``rest > 0``."""
    if isinstance(condition, ast.Compare) and len(condition.ops) == 1:
        zero = isinstance(condition.ops[0], (ast.NotEq, ast.Gt)) and integer(condition.comparators[0]) == 0
        return zero and ast.dump(condition.left) == rest
    return ast.dump(condition) == rest


def assigns_names(node: ast.If) -> bool:
    """Return whether a branch only assigns to local names."""
    targets = [
        target
        for one in node.body
        for target in (one.targets if isinstance(one, ast.Assign) else [getattr(one, "target", None)])
    ]
    named = all(isinstance(one, (ast.Name, ast.Tuple, ast.List)) for one in targets)
    return named and all(isinstance(one, (ast.Assign, ast.AugAssign)) for one in node.body)


def _asks_compiling(test: ast.expr) -> bool:
    return "is_compiling" in ast.unparse(test)


def taken_while_compiling(rule: str, module: Module, node: ast.If, context: Context) -> Iterator[Fix]:
    """Yield the fix ``if pad > 0: …`` → ``if torch.compiler.is_compiling() or pad > 0: …``, without ``else``.

    Inputs for which the condition is false must show that the branch then has no effect.
    """
    compiling = spell(module, node, COMPILING, context)
    if node.orelse or compiling is None or not assigns_names(node) or _asks_compiling(node.test):
        return
    text = module.text(node.test).decode()
    message = f"take the branch of `{text}` always while compiling"
    words = f"while compiling the branch of `{text}` is always taken: it does nothing where that is false"
    yield from _decided(rule, module, node, OrElse(compiling.text), message, words, compiling.needs)


def _decided(
    rule: str, module: Module, node: ast.If, asked: Change, message: str, words: str, needs: tuple[str, ...]
) -> Iterator[Fix]:
    """Yield the fix that tests ``is_compiling`` in front of a whole condition."""
    made = change(rule, module.place(node.test), [(node.test, asked)], message, needs, [words])
    if not isinstance(made, Skip):
        yield made
