"""Decide a branch while torch compiles that changes nothing: it only warns, or does nothing where it is false."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.engine.edits import Edit
from ...codemods.engine.rule import Context, Fix, Safety, Skip
from ..syntax.module import Module
from .changes import OrElse, Unless
from .findings import change, fix
from .spelling import COMPILING, spell

_TELLS = frozenset({"warn", "warning", "warning_once", "warn_once", "info", "debug", "error", "log", "print"})


def told_in_eager(rule: str, module: Module, node: ast.If, context: Context) -> Iterator[Fix]:
    """``if c: warnings.warn(m)`` → ``if not torch.compiler.is_compiling() and c: warnings.warn(m)``."""
    compiling = spell(module, node, COMPILING, context)
    if node.orelse or compiling is None or not all(map(only_tells, node.body)) or _asks_compiling(node.test):
        return
    text = module.text(node.test).decode()
    words = f"a program does not tell of `{text}`"
    made = change(
        rule,
        module.place(node.test),
        [(node.test, Unless(compiling.text))],
        f"`{text}` only decides about a message: ask it in eager",
        compiling.needs,
        [words],
    )
    if not isinstance(made, Skip):
        yield made


def always_cropped(rule: str, module: Module, node: ast.If, context: Context) -> Iterator[Fix]:
    """``if x.shape[0] > n: x = x[:n]`` → ``x = x[:n]``: a slice that ends behind the end is the whole."""
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


def only_tells(statement: ast.stmt) -> bool:
    """Return whether a statement does nothing but warn, log or print."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    name = ast.unparse(call.func).rpartition(".")[2] if isinstance(call, ast.Call) else ""
    return name in _TELLS


def _asks_compiling(test: ast.expr) -> bool:
    return "is_compiling" in ast.unparse(test)


def taken_while_compiling(rule: str, module: Module, node: ast.If, context: Context) -> Iterator[Fix]:
    """``if pad > 0: …`` → ``if torch.compiler.is_compiling() or pad > 0: …``, for an ``if`` without ``else``.

    That the branch does nothing where the condition is false, inputs for which it is false have to show.
    """
    compiling = spell(module, node, COMPILING, context)
    assigns = all(isinstance(one, (ast.Assign, ast.AugAssign)) for one in node.body)
    if node.orelse or compiling is None or not assigns or _asks_compiling(node.test):
        return
    text = module.text(node.test).decode()
    words = f"while compiling the branch of `{text}` is always taken: it does nothing where that is false"
    made = change(
        rule,
        module.place(node.test),
        [(node.test, OrElse(compiling.text))],
        f"take the branch of `{text}` always while compiling",
        compiling.needs,
        [words],
    )
    if not isinstance(made, Skip):
        yield made
