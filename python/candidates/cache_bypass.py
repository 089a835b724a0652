"""Bypass of caches keyed by sizes while torch compiles: a symbolic size can't be a key of a dict."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Safety
from ..rewrite.findings import fix
from ..rewrite.qualified_names import COMPILING, spell
from ..syntax.module import Module


def computed_anew(rule: str, module: Module, node: ast.If, context: Context) -> Iterator[Fix]:
    """Yield the fix that recomputes a cached value while compiling.

    ``if n not in kept: kept[n] = f(n)``, ``return kept[n]`` → before it ``if is_compiling(): return f(n)``.
    """
    compiling, indent = spell(module, node, COMPILING, context), module.indentation(node)
    function = module.place(node).function
    only = node.body[0]
    missing = isinstance(node.test, ast.Compare) and len(node.test.ops) == 1 and isinstance(node.test.ops[0], ast.NotIn)
    if not missing or compiling is None or indent is None or function is None or len(node.body) > 1 or node.orelse:
        return
    target = only.targets[0] if isinstance(only, ast.Assign) else None
    if (
        not isinstance(only, ast.Assign)
        or not isinstance(target, ast.Subscript)
        or not isinstance(node.test, ast.Compare)
    ):
        return
    asked = node.test.left, node.test.comparators[0]
    if [ast.unparse(one) for one in asked] != [ast.unparse(one) for one in (target.slice, target.value)]:
        return
    kept = ast.unparse(only.targets[0])
    body = function.node.body
    at = body.index(node) if node in body else len(body)
    returned = body[at + 1] if at + 1 < len(body) else None
    if not isinstance(returned, ast.Return) or returned.value is None or ast.unparse(returned.value) != kept:
        return
    value = module.text(only.value).decode()
    unit = module.unit_of_indentation(only)
    lines = [f"if {compiling.text}():", f"{indent}{unit}return {value}", indent]
    start = module.span(node)[0]
    edit = Edit(start, start, module.newline.join(lines).encode())
    words = f"while compiling `{kept}` is neither read nor written"
    message = f"compute `{kept}` anew while compiling"
    yield fix(rule, module.place(node), [edit], message, compiling.needs, [words], Safety.UNSAFE)
