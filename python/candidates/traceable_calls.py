"""Calls that torch traces for every size, while compiling, in place of calls that request a size."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Safety
from ..rewrite.findings import fix
from ..rewrite.qualified_names import COMPILING, spell
from ..syntax.module import Module

_EITHER = "use_mm_for_euclid_dist_if_necessary"
_DIRECT = "donot_use_mm_for_euclid_dist"


def fixed_algorithm(rule: str, module: Module, call: ast.Call, context: Context) -> Iterator[Fix]:
    """Yield the fix of ``torch.cdist(x, y)`` that names the algorithm while compiling.

    Without a name, more than 25 rows on a side choose a matrix product. Other norms than 2 ignore the name.
    """
    named = {keyword.arg for keyword in call.keywords}
    if module.names.meaning(call.func) != "torch.cdist" or not {"x1", "x2", "p"} >= named:
        return
    compiling = spell(module, call, COMPILING, context)
    if compiling is None or len(call.args) > 3 or any(isinstance(one, ast.Starred) for one in call.args):
        return
    last = [*call.args, *(keyword.value for keyword in call.keywords)][-1]
    at = module.grouped_span(last)[1]
    text = f', compute_mode="{_DIRECT}" if {compiling.text}() else "{_EITHER}"'
    words = "while compiling distances are summed directly, never by a matrix product"
    message = "fix the algorithm of `torch.cdist` while compiling, which 25 rows decide"
    yield fix(rule, module.place(call), [Edit(at, at, text.encode())], message, compiling.needs, [words], Safety.UNSAFE)


def filled_diagonal(rule: str, module: Module, call: ast.Call, context: Context) -> Iterator[Fix]:
    """Yield the fix of the statement ``x.fill_diagonal_(v)`` that fills ``x.diagonal()`` while compiling."""
    statement = module.parents.get(call)
    compiling = spell(module, call, COMPILING, context)
    indent = module.indentation(statement) if isinstance(statement, ast.Expr) else None
    named = isinstance(call.func, ast.Attribute) and call.func.attr == "fill_diagonal_"
    plain = isinstance(call.func, ast.Attribute) and isinstance(call.func.value, (ast.Name, ast.Attribute))
    if not (named and plain) or indent is None or compiling is None or len(call.args) != 1 or call.keywords:
        return
    assert isinstance(call.func, ast.Attribute) and statement is not None
    old = module.text(statement).decode()
    filled = f"{module.text(call.func.value).decode()}.diagonal().fill_({module.text(call.args[0]).decode()})"
    inner = f"{indent}    "
    name = module.text(call.func.value).decode()
    lines = [f"if {compiling.text}() and {name}.dim() == 2:", f"{inner}{filled}", f"{indent}else:", f"{inner}{old}"]
    if "\n" in old:
        return
    edit = Edit(*module.span(statement), module.newline.join(lines).encode())
    message = f"fill the diagonal of `{name}` as a view while compiling"
    yield fix(rule, module.place(call), [edit], message, compiling.needs, (), Safety.UNSAFE)
