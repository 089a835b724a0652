"""Reads of numbers out of tensors in a form that a tracer keeps symbolic. ``int(t)`` makes a Python int."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Safety
from ..rewrite.findings import fix
from ..rewrite.qualified_names import spell
from ..syntax.module import Module

_WHOLE = {"builtins.int": "integers", "builtins.float": "floating-point numbers", "builtins.bool": "bools"}
_SYMBOLIC = {"builtins.int": "torch.sym_int", "builtins.float": "torch.sym_float"}
_BINDING = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)


def read_scalar(rule: str, module: Module, call: ast.Call, context: Context) -> Iterator[Fix]:
    """Yield the fixes ``int(t)`` → ``t.item()`` for a tensor of integers, and → ``torch.sym_int(t.item())`` for any."""
    kind = module.names.meaning(call.func)
    if kind not in _WHOLE or len(call.args) != 1 or call.keywords or isinstance(call.args[0], ast.Starred):
        return
    above = module.parents.get(call)
    if isinstance(above, ast.Call) and module.names.meaning(above.func) == "builtins.range":
        return  # a loop needs a concrete number of iterations
    value = call.args[0]
    text = module.text(value).decode()
    item = f"{text if isinstance(value, _BINDING) else f'({text})'}.item()"
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "item":
        item = text
    said = module.text(call).decode()
    if item != text:
        words = f"`{text}` is taken for a tensor of {_WHOLE[kind]}"
        edit = Edit(*module.span(call), item.encode())
        message = f"`{said}` makes a Python number, `.item()` a symbol"
        yield fix(rule, module.place(call), [edit], message, (), [words], Safety.UNSAFE)
    symbolic = spell(module, call, _SYMBOLIC[kind], context) if kind in _SYMBOLIC else None
    if symbolic is not None:
        words = f"`{said}` may have been a number of another kind"
        edit = Edit(*module.span(call), f"{symbolic.text}({item})".encode())
        message = f"`{said}` makes a Python number, `{symbolic.text}` a symbol"
        yield fix(rule, module.place(call), [edit], message, symbolic.needs, [words], Safety.UNSAFE)
