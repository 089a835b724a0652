"""Sort dimensions by strides that nobody can compare, by the order that torch itself gives them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.engine.edits import Edit
from ...codemods.engine.rule import Context, Fix, Safety
from ..syntax.module import Module
from .findings import fix
from .spelling import spell

_ORDER = "torch._prims_common.K"
"""A pair of size and stride: with symbols, ``u0 < 2 * u0`` holds and ``u0 < u1`` does not."""


def sorted_by_stride(rule: str, module: Module, call: ast.Call, context: Context) -> Iterator[Fix]:
    """``d.sort(key=lambda i: strides[i])`` → ``d.sort(key=lambda i: K(x.shape[i], strides[i]))``."""
    sorts = ast.unparse(call.func).rpartition(".")[2] in ("sort", "sorted")
    key = next((one.value for one in call.keywords if one.arg == "key"), None)
    if not sorts or not isinstance(key, ast.Lambda) or len(key.args.args) != 1:
        return
    body, index = key.body, key.args.args[0].arg
    if not isinstance(body, ast.Subscript) or not isinstance(body.value, ast.Name) or ast.unparse(body.slice) != index:
        return
    tensor = _whose_strides(module, call, body.value.id)
    order = spell(module, call, _ORDER, context)
    if tensor is None or order is None:
        return
    text = module.text(body).decode()
    edit = Edit(*module.span(body), f"{order.text}({tensor}.shape[{index}], {text})".encode())
    default = "strides whose order is not decided and of which none is a multiple of another keep their places"
    message = f"order `{text}` as torch orders strides"
    yield fix(rule, module.place(call), [edit], message, order.needs, [default], Safety.UNSAFE)


def _whose_strides(module: Module, place: ast.AST, name: str) -> str | None:
    """The ``x`` of ``name = x.stride()``, where that is all that the function around gives the name."""
    function = module.place(place).function
    value = function.assigned_once.get(name) if function is not None else None
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute) or value.args or value.keywords:
        return None
    named = isinstance(value.func.value, ast.Name) and value.func.attr == "stride"
    return value.func.value.id if named and isinstance(value.func.value, ast.Name) else None
