"""Keep a number that is computed of sizes symbolic, where Python's own function would make it a plain one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.engine.edits import Edit
from ...codemods.engine.rule import Context, Fix, Safety
from ..syntax.module import Module
from .findings import fix
from .spelling import spell

_WHOLE = (ast.Lambda, ast.Return, ast.Assign)
"""Where an expression needs no parentheses."""


def symbolic_root(rule: str, module: Module, call: ast.Call, context: Context) -> Iterator[Fix]:
    """``math.sqrt(n)`` → ``torch.sym_sqrt(n)``, which is `math.sqrt` for a number."""
    if module.names.meaning(call.func) != "math.sqrt":
        return
    root = spell(module, call, "torch.sym_sqrt", context)
    if root is not None:
        edit = Edit(*module.span(call.func), root.text.encode())
        message = f"keep the square root of `{module.text(call.args[0]).decode()}` symbolic"
        yield fix(rule, module.place(call), [edit], message, root.needs, (), Safety.UNSAFE)


def symbolic_complex(rule: str, module: Module, call: ast.Call, context: Context) -> Iterator[Fix]:
    """``complex(x)`` → ``x if isinstance(x, torch.SymFloat) else complex(x)``: there is no symbolic complex number."""
    name = call.args[0] if len(call.args) == 1 and not call.keywords else None
    if not isinstance(name, ast.Name) or module.names.meaning(call.func) != "builtins.complex":
        return
    number = spell(module, call, "torch.SymFloat", context)
    if number is None:
        return
    kept = f"{name.id} if isinstance({name.id}, {number.text}) else {module.text(call).decode()}"
    if not isinstance(next(iter(module.place(call).ancestors), None), _WHOLE):
        kept = f"({kept})"
    default = f"a symbolic `{name.id}` stays real: what it is multiplied with is complex"
    message = f"keep `{name.id}` symbolic"
    yield fix(rule, module.place(call), [Edit(*module.span(call), kept.encode())], message, number.needs, [default])
