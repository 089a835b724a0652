"""Slices whose end may exceed the size: an end clamped to the size gives the same result without a guard."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Safety
from ..rewrite.findings import fix
from ..rewrite.qualified_names import spell
from ..syntax.module import Module

_READ = (ast.Name, ast.Attribute, ast.Subscript)


def clamped_ends(rule: str, module: Module, node: ast.Subscript, context: Context) -> Iterator[Fix]:
    """Yield the fix ``x[:, :n]`` → ``x[:, : torch.sym_min(n, x.shape[1])]``."""
    least = spell(module, node, "torch.sym_min", context)
    if least is None or not isinstance(node.value, (ast.Name, ast.Attribute)):
        return
    receiver = module.text(node.value).decode()
    edits = []
    for dimension, part in enumerate(_parts(node)):
        if not isinstance(part, ast.Slice) and not isinstance(part, ast.Constant):
            return
        if isinstance(part, ast.Constant) and type(part.value) is not int:
            return
        upper = part.upper if isinstance(part, ast.Slice) else None
        if isinstance(upper, (ast.Name, ast.Attribute, ast.Constant)) and not isinstance(upper, ast.UnaryOp):
            text = f"{least.text}({module.text(upper).decode()}, {receiver}.shape[{dimension}])"
            edits.append(Edit(*module.span(upper), text.encode()))
    if not edits:
        return
    said = module.text(node).decode()
    words = f"the ends of `{said}` are taken for no negative numbers"
    message = f"end `{said}` at most at the size"
    yield fix(rule, module.place(node), edits, message, least.needs, [words], Safety.UNSAFE)


def read_bounds(rule: str, module: Module, statement: ast.stmt, context: Context) -> Iterator[Fix]:
    """Yield the fix ``x[begin:end]`` → ``x[begin.item() : end.item()]``, for bounds that are tensors of one integer."""
    bounds = [
        bound
        for node in ast.walk(statement)
        if isinstance(node, ast.Subscript)
        for part in _parts(node)
        if isinstance(part, ast.Slice)
        for bound in (part.lower, part.upper)
        if isinstance(bound, _READ)
    ]
    edits = [Edit(module.span(bound)[1], module.span(bound)[1], b".item()") for bound in bounds]
    if not edits:
        return
    texts = ", ".join(dict.fromkeys(f"`{module.text(bound).decode()}`" for bound in bounds))
    words = f"{texts} are taken for tensors of one integer"
    yield fix(rule, module.place(statement), edits, f"read {texts} before slicing", (), [words], Safety.UNSAFE)


def _parts(node: ast.Subscript) -> list[ast.expr]:
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
