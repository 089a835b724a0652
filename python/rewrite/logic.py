"""The exclusive or of a bool and a symbolic bool, which has neither ``^`` nor ``!=``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.engine.edits import Edit
from ...codemods.engine.rule import Context, Fix, Safety
from ..syntax.module import Module
from .findings import fix
from .spelling import spell


def opposite_chosen(rule: str, module: Module, node: ast.BinOp, context: Context) -> Iterator[Fix]:
    """``a ^ (c < d)`` → ``torch.sym_not(c < d) if a else c < d``, and the same with the sides exchanged."""
    opposite = spell(module, node, "torch.sym_not", context)
    compares = any(isinstance(one, ast.Compare) for one in (node.left, node.right))
    if not isinstance(node.op, ast.BitXor) or opposite is None or not compares:
        return
    said = module.text(node).decode()
    words = f"both sides of `{said}` are taken for bools"
    message = f"`{said}` asks whether two bools differ"
    start, end = module.grouped_span(node)
    for known, symbolic in ((node.left, node.right), (node.right, node.left)):
        text, condition = (module.text(one).decode() for one in (symbolic, known))
        written = f"({opposite.text}({text}) if {condition} else {text})"
        edit = Edit(start, end, written.encode())
        yield fix(rule, module.place(node), [edit], message, opposite.needs, [words], Safety.UNSAFE)
