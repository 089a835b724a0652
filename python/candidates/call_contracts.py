"""Statements of sizes that follow from the arguments of a call and that torch does not derive."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Safety
from ..rewrite.findings import fix
from ..rewrite.qualified_names import spell
from ..syntax.module import Module
from ..syntax.tree import FunctionDefinition


def length_stated(rule: str, module: Module, statement: ast.stmt, context: Context) -> Iterator[Fix]:
    """Yield the fix that states the length of ``torch.bincount(i, minlength=n)`` by a check.

    The result has ``n`` elements if each index is below ``n``. The check precedes a statement that reads the result. A
    statement that both computes and uses the result is split.
    """
    function, indent = module.place(statement).function, module.indentation(statement)
    check = spell(module, statement, "torch._check", context)
    between = module.source.content.startswith(b"elif", module.span(statement)[0])
    if function is None or indent is None or check is None or between:
        return
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and isinstance(statement, ast.Assign):
            length = _least_length(module, node)
            target = statement.targets[0]
            if length is None or len(statement.targets) > 1 or not isinstance(target, ast.Name):
                continue
            start, end = module.span(node)
            first, last = module.span(statement)
            content = module.source.content
            lines = [
                f"{target.id} = {module.text(node).decode()}",
                f"{check.text}({target.id}.shape[0] == {length})",
                (content[first:start] + target.id.encode() + content[end:last]).decode(),
            ]
            if node is statement.value:
                lines.pop()
            edit = Edit(first, last, f"{module.newline}{indent}".join(lines).encode())
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            made = _last_value(module, function, node)
            length = _least_length(module, made) if isinstance(made, ast.Call) else None
            if length is None:
                continue
            first = module.span(statement)[0]
            line = f"{check.text}({node.id}.shape[0] == {length}){module.newline}{indent}"
            edit = Edit(first, first, line.encode())
        else:
            continue
        words = f"the model and the program refuse more than {length} counts"
        message = f"state that there are {length} counts"
        yield fix(rule, module.place(statement), [edit], message, check.needs, [words], Safety.UNSAFE)


def _last_value(module: Module, function: FunctionDefinition, name: ast.Name) -> ast.expr | None:
    """Return the value of the last assignment to a name above the line that reads it, or None."""
    above = [
        one
        for one in function.nodes.every(ast.Assign)
        if one.lineno < name.lineno and any(isinstance(to, ast.Name) and to.id == name.id for to in one.targets)
    ]
    return max(above, key=lambda one: one.lineno).value if above else None


def _least_length(module: Module, call: ast.Call) -> str | None:
    """Return the text of ``minlength`` in a call of ``bincount``, or None."""
    named = isinstance(call.func, ast.Attribute) and call.func.attr == "bincount"
    given = next((one.value for one in call.keywords if one.arg == "minlength"), None)
    return module.text(given).decode() if named and given is not None else None
