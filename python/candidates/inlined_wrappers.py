"""Removal of a wrapper around a call while compiling: a context manager that dynamo does not trace."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Safety
from ..rewrite.findings import fix
from ..rewrite.qualified_names import COMPILING, spell
from ..syntax.module import Module
from ..syntax.tree import FunctionDefinition


def unwrapped(rule: str, module: Module, where: tuple[int, int], context: Context) -> Iterator[Fix]:
    """Yield the fix that bypasses a context manager while compiling.

    ``with state(): r = f(*a, **k); return r`` → before it ``if torch.compiler.is_compiling(): return f(*a, **k)``. The
    function must pass all its arguments on in one call and return the result.
    """
    for function in module.functions:
        statement = _wrapping(function)
        if statement is None or module.span(statement)[0] != where[0]:
            continue
        call = _handed_on(function.node)
        compiling = spell(module, statement, COMPILING, context)
        indent = module.indentation(statement)
        if call is None or compiling is None or indent is None:
            continue
        around = module.text(statement.items[0].context_expr).decode()
        lines = (
            f"if {compiling.text}():",
            f"    # Dynamo does not trace `{around}`.",
            f"    return {module.text(call).decode()}",
        )
        text = "".join(line + module.newline + indent for line in lines)
        edit = Edit(where[0], where[0], text.encode())
        default = f"while compiling `{around}` and what stands in it beside the call are left out"
        message = f"call `{ast.unparse(call.func)}` alone while compiling"
        yield fix(rule, module.place(statement), [edit], message, compiling.needs, [default], Safety.UNSAFE)


def _wrapping(function: FunctionDefinition) -> ast.With | None:
    """Return the ``with`` that is the only statement of a function besides its docstring, or None."""
    body = [
        one for one in function.node.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
    ]
    return body[0] if len(body) == 1 and isinstance(body[0], ast.With) else None


def _handed_on(definition: ast.AST) -> ast.Call | None:
    """Return the call of the first parameter with all the others, if its result is returned, or None."""
    arguments = getattr(definition, "args", None)
    if not isinstance(arguments, ast.arguments) or not arguments.vararg or not arguments.kwarg:
        return None
    positional = [*arguments.posonlyargs, *arguments.args]
    if len(positional) != 1 or arguments.kwonlyargs:
        return None
    wanted = f"{positional[0].arg}(*{arguments.vararg.arg}, **{arguments.kwarg.arg})"
    calls = [one for one in ast.walk(definition) if isinstance(one, ast.Call) and ast.unparse(one) == wanted]
    returned = [ast.unparse(one.value) for one in ast.walk(definition) if isinstance(one, ast.Return) and one.value]
    names = [
        one.targets[0].id
        for one in ast.walk(definition)
        if isinstance(one, ast.Assign) and one.value in calls and isinstance(one.targets[0], ast.Name)
    ]
    return calls[0] if len(calls) == 1 and returned and set(returned) <= {wanted, *names} else None
