"""Choices between two tensors by ``torch.where``, if tensor values decide and both sides can be computed."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ...codemods.engine.edits import Edit
from ...codemods.engine.rule import Context, Fix, Safety
from ..syntax.module import Module
from .findings import fix
from .spelling import spell

_SCALARS = ("builtins.bool", "builtins.int", "builtins.float")
_BINDING = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant)


def selected(rule: str, module: Module, node: ast.If | ast.IfExp, context: Context) -> Iterator[Fix]:
    """Yield the fix ``if c: x = f(x)`` → ``x = torch.where(c, f(x), x)``.

    It applies to assignments, two ``return``s, and ``f(x) if c else x``.
    """
    where = spell(module, node, "torch.where", context)
    if where is None or isinstance(node.test, ast.BoolOp):
        return
    choice = f"{where.text}({tensor_text(module, node.test)}"
    start, end = module.span(node)
    if isinstance(node, ast.IfExp):
        body, orelse = (module.text(one).decode() for one in (node.body, node.orelse))
        text = f"{choice}, {body}, {orelse})"
    else:
        follower = _follower(module, node)
        if isinstance(node.body[0], ast.Return) and isinstance(follower, ast.Return):
            lines = _chosen_result(module, node, follower, choice)
            end = module.span(follower)[1]
        else:
            lines = _chosen_values(module, node, choice)
        indent = module.indentation(node)
        elif_ = module.source.content.startswith(b"elif", start)
        if not lines or indent is None or elif_ or b"#" in module.source.content[start:end]:
            return
        text = f"{module.newline}{indent}".join(lines)
    said = module.text(node.test).decode()
    words = "both sides are computed for all values, also where the other one is chosen"
    edit = Edit(start, end, text.encode())
    message = f"`{said}` chooses between two tensors"
    yield fix(rule, module.place(node), [edit], message, where.needs, [words], Safety.UNSAFE)


def tensor_text(module: Module, value: ast.expr) -> str:
    """Return the text of the tensor whose values an expression reads: without ``.item()``, ``bool()`` and the like."""
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not):
        inner = tensor_text(module, value.operand)
        return f"~{inner}" if isinstance(value.operand, _BINDING) else f"~({inner})"
    if isinstance(value, ast.Call):
        if isinstance(value.func, ast.Attribute) and value.func.attr == "item" and not value.args:
            return module.text(value.func.value).decode()
        if len(value.args) == 1 and module.names.meaning(value.func) in _SCALARS:
            return module.text(value.args[0]).decode()
        if module.names.meaning(value.func) == "torch.allclose" and isinstance(value.func, ast.Attribute):
            start, end = module.span(value.func.value)[1], module.span(value.func)[1]
            content, whole = module.source.content, module.span(value)
            return f"{content[whole[0] : start].decode()}.isclose{content[end : whole[1]].decode()}.all()"
    if isinstance(value, ast.Compare) and len(value.ops) == 1:
        whole, left = module.span(value), module.span(value.left)
        content = module.source.content
        head, rest = content[whole[0] : left[0]].decode(), content[left[1] : whole[1]].decode()
        return head + tensor_text(module, value.left) + rest
    return module.text(value).decode()


def _follower(module: Module, node: ast.If) -> ast.stmt | None:
    """Return the statement that runs next if the condition is false, or None."""
    if node.orelse:
        return node.orelse[0] if len(node.orelse) == 1 else None
    above = module.parents[node]
    for block in (getattr(above, name, None) for name in ("body", "orelse", "finalbody")):
        if isinstance(block, list) and node in block[:-1]:
            following: ast.stmt = block[block.index(node) + 1]
            return following
    return None


def _chosen_result(module: Module, node: ast.If, follower: ast.Return, choice: str) -> list[str]:
    """Return the line that returns one of two values, or nothing if that is not possible."""
    first = node.body[0]
    if len(node.body) > 1 or not isinstance(first, ast.Return) or first.value is None or follower.value is None:
        return []
    values = (module.text(one).decode() for one in (first.value, follower.value))
    return [f"return {choice}, {', '.join(values)})"]


def _chosen_values(module: Module, node: ast.If, choice: str) -> list[str]:
    """Return the lines that assign one of two values to names, or nothing if a block does anything else."""
    body, orelse = _assigned(module, node.body), _assigned(module, node.orelse)
    if body is None or orelse is None:
        return []
    others = dict(orelse)
    read = {one.id for one in ast.walk(node.test) if isinstance(one, ast.Name)}
    names = [name for name, _ in body]
    if len({*names}) < len(names) or (node.orelse and {*others} != {*names}) or len(others) < len(orelse):
        return []
    if len(names) > 1 and (read.intersection(names[:-1]) or node.orelse):
        # Separate lines would read already chosen values. Assign all at once, if no value reads another one's name.
        assigned = [one for one in node.body if isinstance(one, (ast.Assign, ast.AugAssign))]
        reads = [{part.id for part in ast.walk(one.value) if isinstance(part, ast.Name)} for one in assigned]
        if node.orelse or any(seen.intersection(names[:at]) for at, seen in enumerate(reads)):
            return []
        chosen = [f"{choice}, {value}, {name})" for name, value in body]
        return [f"{', '.join(names)} = {', '.join(chosen)}"]
    return [f"{name} = {choice}, {value}, {others.get(name, name)})" for name, value in body]


def _assigned(module: Module, block: Sequence[ast.stmt]) -> list[tuple[str, str]] | None:
    """Return the names that a block assigns to and the texts of their values, or None if it does anything else."""
    found = []
    for one in block:
        if isinstance(one, ast.Assign) and len(one.targets) == 1 and isinstance(one.targets[0], ast.Name):
            found.append((one.targets[0].id, module.text(one.value).decode()))
        elif isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Name):
            start, end = module.span(one.target)[1], module.span(one.value)[0]
            operator = module.source.content[start:end].decode().replace("=", "", 1)
            value = module.text(one.value).decode()
            found.append(
                (
                    one.target.id,
                    f"{one.target.id}{operator}{value if isinstance(one.value, _BINDING) else f'({value})'}",
                )
            )
        else:
            return None
    return found
