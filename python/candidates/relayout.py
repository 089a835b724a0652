"""Layouts of tensors, by strides or in a memory format, without guards on sizes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Safety
from ..rewrite.findings import fix
from ..rewrite.qualified_names import spell
from ..syntax.module import Module

_STRIDES = "torch._prims_common.make_contiguous_strides_for"
_CONTIGUOUS = "torch.contiguous_format"


def laid_out_anew(rule: str, module: Module, call: ast.Call, context: Context) -> Iterator[Fix]:
    """Yield the fix that sets contiguous strides explicitly.

    ``t.resize_(s, memory_format=torch.contiguous_format)`` → ``t.as_strided_(s, make_contiguous_strides_for(s))``.
    """
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


def made_in_format(rule: str, module: Module, call: ast.Call, context: Context) -> Iterator[Fix]:
    """Yield the fix that allocates a tensor in its memory format.

    ``t.new_empty(s).to(memory_format=f)`` → ``torch.empty(s, dtype=t.dtype, device=t.device, memory_format=f)``. The
    conversion guards on the sizes to find the new tensor's present format.
    """
    func = call.func
    made = func.value if isinstance(func, ast.Attribute) and func.attr == "to" and not call.args else None
    if not isinstance(made, ast.Call) or [one.arg for one in call.keywords] != ["memory_format"]:
        return
    maker = made.func
    if not isinstance(maker, ast.Attribute) or maker.attr != "new_empty" or len(made.args) != 1:
        return
    given = {one.arg: module.text(one.value).decode() for one in made.keywords}
    torch = spell(module, call, "torch._check", context)
    if torch is None or not isinstance(maker.value, ast.Name) or not given.keys() <= {"dtype", "device"}:
        return
    like = maker.value.id
    passed = [module.text(made.args[0]).decode()]
    passed += [f"{name}={given.get(name, f'{like}.{name}')}" for name in ("dtype", "device")]
    passed.append(f"memory_format={module.text(call.keywords[0].value).decode()}")
    edit = Edit(*module.span(call), f"{torch.text.removesuffix('_check')}empty({', '.join(passed)})".encode())
    message = f"make `{module.text(made).decode()}` in its memory format, which needs no conversion"
    yield fix(rule, module.place(call), [edit], message, torch.needs, (), Safety.UNSAFE)
