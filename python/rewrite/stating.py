"""State conditions in front of a statement, so that what it calls need not decide them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import libcst as cst

from ...codemods.engine.edits import Edit
from ...codemods.engine.rule import Context, Fix
from ...codemods.engine.source import SourceFile
from ..analysis.unfit import Unfit
from ..syntax.module import Module, parse
from .expressions import name
from .findings import fix
from .lines import code
from .spelling import spell
from .statements import Statement

NAME = "alternative"


def stated(source: SourceFile, context: Context, where: tuple[int, int], conditions: Sequence[str]) -> Iterator[Fix]:
    """The fix that checks all ``conditions`` in front of the statement at ``where``; none where no line fits there."""
    module = parse(source)
    statement = _statement_at(module, where[0])
    if statement is None or not conditions:
        return
    check = spell(module, statement, "torch._check", context)
    if check is None:
        return
    try:
        around = Statement(module.place(statement))
    except Unfit:
        return
    if not around.alone:
        return
    calls = [cst.Call(name(check.text), [cst.Arg(cst.parse_expression(one))]) for one in conditions]
    lines = "".join(f"{code(call)}{module.newline}{around.indent}" for call in calls)
    edit = Edit(where[0], where[0], lines.encode())
    listed = " and ".join(f"`{one}`" for one in conditions)
    words = f"what breaks {listed} is refused, by the model and by the exported program"
    yield fix(NAME, module.place(statement), [edit], f"state {listed}", check.needs, [words])


def _statement_at(module: Module, start: int) -> ast.stmt | None:
    nodes = module.nodes.every(ast.AST, ast.stmt)
    return next((one for one in nodes if isinstance(one, ast.stmt) and module.span(one)[0] == start), None)
