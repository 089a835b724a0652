"""Choices that keep an expression for TorchScript, and use a helper that it does not compile elsewhere.

TorchScript compiles only one side of ``a if torch.jit.is_scripting() else b``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from ...codemods.model.edit import Edit, apply
from ...codemods.model.rule import Context, Fix
from ..analysis.flow.fix_eligibility import obstacle
from ..rewrite.qualified_names import SCRIPTING, spell
from ..syntax.module import Module


def chosen_beside_script(module: Module, fix: Fix, where: tuple[int, int], context: Context) -> Iterator[Fix]:
    """Yield the fix ``if n == 0:`` → ``if (n == 0 if torch.jit.is_scripting() else guard_or_false(n == 0)):``.

    The edits of ``fix`` must lie in one expression of the statement at ``where``, in a function that TorchScript may
    compile.
    """
    start, end = min(one.start for one in fix.edits), max(one.end for one in fix.edits)
    around = [
        one
        for one in module.nodes.every(ast.expr, ast.expr)
        if not isinstance(one, (ast.Slice, ast.Starred))
        and where[0] <= module.span(one)[0] <= start
        and end <= module.span(one)[1]
    ]
    if not around:
        return
    node = _value(module, min(around, key=lambda one: module.span(one)[1] - module.span(one)[0]))
    scripting = spell(module, node, SCRIPTING, context)
    above = module.place(node).ancestors
    chosen = any(isinstance(one, ast.IfExp) and "is_scripting" in ast.unparse(one.test) for one in above)
    if scripting is None or chosen or obstacle(module.place(node), context) is None:
        return
    first, last = module.span(node)
    before = module.source.content[first:last]
    after = apply(before, [Edit(one.start - first, one.end - first, one.text) for one in fix.edits])
    if b"\n" in before + after or module.place(node).in_format_string:
        return
    text = b"(%s if %s() else %s)" % (before, scripting.text.encode(), after)
    yield replace(fix, edits=(Edit(first, last, text),), needs=(*fix.needs, *scripting.needs))


def _value(module: Module, node: ast.expr) -> ast.expr:
    """Return the expression around a callee or the start of a dotted name, which are no values to TorchScript."""
    above = module.parents[node]
    while (isinstance(above, ast.Call) and above.func is node) or isinstance(above, ast.Attribute):
        node, above = above, module.parents[above]
    return node
