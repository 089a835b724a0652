"""Sorting of dimensions by undecided strides: a multiple of another stride is the larger one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Safety
from ..rewrite.findings import fix
from ..rewrite.qualified_names import guarded, spell
from ..syntax.module import Module

_NAME = "_by_stride"
_HELPER = '''def _by_stride(strides):
    """Sort key for dimensions; an undecided stride is larger than what it is a multiple of."""
    from functools import cmp_to_key

    from torch.fx.experimental.symbolic_shapes import guard_or_false, guard_or_true

    def compare(left, right):
        a, b = strides[left], strides[right]
        larger = guard_or_true(a < b) and not guard_or_false(a % b == 0)
        return -1 if guard_or_false(a < b) or larger else 0

    return cmp_to_key(compare)


'''


def sorted_by_stride(rule: str, module: Module, call: ast.Call, context: Context) -> Iterator[Fix]:
    """Yield the fix ``d.sort(key=lambda i: strides[i])`` → ``d.sort(key=_by_stride(strides))``.

    The fix inserts the function above.
    """
    sorts = ast.unparse(call.func).rpartition(".")[2] in ("sort", "sorted")
    key = next((one.value for one in call.keywords if one.arg == "key"), None)
    function = module.place(call).function
    if not sorts or not isinstance(key, ast.Lambda) or len(key.args.args) != 1 or function is None:
        return
    body, index = key.body, key.args.args[0].arg
    if not isinstance(body, ast.Subscript) or not isinstance(body.value, ast.Name) or ast.unparse(body.slice) != index:
        return
    strides = body.value.id
    known = module.names.defined_at_top.get(_NAME)
    free = known is not None or module.names.free(_NAME, call)
    if (
        not _are_strides(module, call, strides)
        or not free
        or spell(module, call, guarded("guard_or_true"), context) is None
    ):
        return
    outermost = function.outermost.node
    if outermost not in module.tree.body or outermost.decorator_list:
        return
    above = _above_comments(module, module.span(outermost)[0])
    helper = [] if known is not None else [Edit(above, above, _HELPER.replace("\n", module.newline).encode())]
    edit = Edit(*module.span(key), f"{_NAME}({strides})".encode())
    default = "of two strides whose order is not decided the one that is a multiple of the other is the larger"
    message = f"order dimensions by `{strides}` where these can't be compared"
    yield fix(rule, module.place(call), [*helper, edit], message, (), [default], Safety.UNSAFE)


def _above_comments(module: Module, start: int) -> int:
    """Return the start of the comment directly above a top-level statement."""
    lines = module.source.content[:start].splitlines(keepends=True)
    while lines and lines[-1].startswith(b"#"):
        start -= len(lines.pop())
    return start


def _are_strides(module: Module, place: ast.AST, name: str) -> bool:
    """Return whether ``name = x.stride()`` is the only assignment to the name in the enclosing function."""
    function = module.place(place).function
    value = function.assigned_once.get(name) if function is not None else None
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "stride"
