"""Take the square root of a size without making it a number."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.engine.edits import Edit
from ...codemods.engine.rule import Context, Fix, Safety
from ..syntax.module import Module
from .findings import fix
from .spelling import spell


def symbolic_root(rule: str, module: Module, call: ast.Call, context: Context) -> Iterator[Fix]:
    """``math.sqrt(n)`` → ``torch.sym_sqrt(n)``, which is `math.sqrt` for a number."""
    if module.names.meaning(call.func) != "math.sqrt":
        return
    root = spell(module, call, "torch.sym_sqrt", context)
    if root is not None:
        edit = Edit(*module.span(call.func), root.text.encode())
        message = f"keep the square root of `{module.text(call.args[0]).decode()}` symbolic"
        yield fix(rule, module.place(call), [edit], message, root.needs, (), Safety.UNSAFE)
