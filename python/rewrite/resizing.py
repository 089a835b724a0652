"""Lay a tensor out anew without ``resize_``, which asks how many elements it has."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.engine.edits import Edit
from ...codemods.engine.rule import Context, Fix, Safety
from ..syntax.module import Module
from .findings import fix
from .spelling import spell

_STRIDES = "torch._prims_common.make_contiguous_strides_for"
_CONTIGUOUS = "torch.contiguous_format"


def laid_out_anew(rule: str, module: Module, call: ast.Call, context: Context) -> Iterator[Fix]:
    """``t.resize_(s, memory_format=torch.contiguous_format)``, ``t.as_strided_(s, make_contiguous_strides_for(s))``."""
    func = call.func
    formats = [ast.unparse(one.value) for one in call.keywords if one.arg == "memory_format"]
    if not isinstance(func, ast.Attribute) or func.attr != "resize_" or len(call.args) != 1:
        return
    if formats != [_CONTIGUOUS] or len(call.keywords) != 1 or not isinstance(call.args[0], ast.Name):
        return
    strides = spell(module, call, _STRIDES, context)
    if strides is None:
        return
    sizes = call.args[0].id
    start, end = module.span(func)[1] - len(func.attr), module.span(call)[1]
    edit = Edit(start, end, f"as_strided_({sizes}, {strides.text}({sizes}))".encode())
    default = "the storage is taken to be large enough: `as_strided_` raises where it is not"
    message = f"lay `{module.text(func.value).decode()}` out by strides, which asks for no number of elements"
    yield fix(rule, module.place(call), [edit], message, strides.needs, [default], Safety.UNSAFE)
