"""Decide a branch while torch compiles that changes nothing: it only warns, or does nothing where it is false."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.engine.edits import Edit
from ...codemods.engine.rule import Context, Fix, Safety, Skip
from ..analysis.unfit import Unfit
from ..syntax.module import Module
from .changes import OrElse, Unless
from .findings import change, fix
from .spelling import COMPILING, spell
from .writing import edited

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


def modular_amounts(rule: str, module: Module, node: ast.If, context: Context) -> Iterator[Fix]:
    """``if n % k > 0: pad(x, k - n % k)`` → ``if is_compiling() or n % k > 0: pad(x, (k - n % k) % k)``."""
    compiling = spell(module, node, COMPILING, context)
    if node.orelse or compiling is None or not assigns_names(node) or _asks_compiling(node.test):
        return
    edits = []
    for one in (part for statement in node.body for part in ast.walk(statement)):
        if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Sub) and _is_rest(node.test, one):
            text, step = module.text(one).decode(), module.text(one.left).decode()
            edits.append(Edit(*module.grouped_span(one), f"({text}) % {step}".encode()))
    if not edits:
        return
    try:
        decided = edited(module, node.test, [(node.test, OrElse(compiling.text))])
    except Unfit:
        return
    said = module.text(node.test).decode()
    words = f"while compiling the branch of `{said}` is taken, with an amount of 0 where that is false"
    message = f"take the branch of `{said}` always while compiling"
    yield fix(rule, module.place(node), [decided, *edits], message, compiling.needs, [words], Safety.UNSAFE)


def _is_rest(test: ast.expr, amount: ast.BinOp) -> bool:
    """Return whether an amount is what is missing to a multiple, and the condition asks whether anything is."""
    rest = ast.dump(amount.right)
    modular = isinstance(amount.right, ast.BinOp) and isinstance(amount.right.op, ast.Mod)
    return modular or any(ast.dump(one) == rest for one in ast.walk(test))


def assigns_names(node: ast.If) -> bool:
    """Return whether a branch does nothing but give local names values."""
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
    """``if pad > 0: …`` → ``if torch.compiler.is_compiling() or pad > 0: …``, for an ``if`` without ``else``.

    That the branch does nothing where the condition is false, inputs for which it is false have to show.
    """
    compiling = spell(module, node, COMPILING, context)
    if node.orelse or compiling is None or not assigns_names(node) or _asks_compiling(node.test):
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
