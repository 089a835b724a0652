"""Checks in front of a statement, so that its callees need not guard on the conditions."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import libcst as cst

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix
from ...codemods.model.source_file import SourceFile
from ..analysis.types.cannot_rewrite import CannotRewrite
from ..rewrite.expressions import name
from ..rewrite.findings import fix
from ..rewrite.lines import code
from ..rewrite.qualified_names import COMPILING, spell
from ..rewrite.statements import Statement
from ..syntax.module import Module, parse

NAME = "alternative"
_CHECK = "torch._check"
_COMMENT = "# Torch decides on this below; one program for all sizes has to know it.\n"


def stated(source: SourceFile, context: Context, where: tuple[int, int], conditions: Sequence[str]) -> Iterator[Fix]:
    """Yield the fixes that check all ``conditions`` in front of the statement at ``where``, or nothing.

    A line must fit there. The first fix checks in every call, the second only while compiling.
    """
    module = parse(source)
    statement = _statement_at(module, where[0])
    if statement is None:
        return
    check, compiling = (spell(module, statement, symbol, context) for symbol in (_CHECK, COMPILING))
    if check is None or compiling is None:
        return
    function = module.place(statement).function
    above = source.content[module.span(function.node)[0] if function else 0 : where[0]].decode()
    conditions = [one for one in conditions if f"{check.text}({one})" not in above]
    if not conditions:
        return
    try:
        around = Statement(module.place(statement))
    except CannotRewrite:
        return
    if not around.alone:
        return
    calls = [cst.Call(name(check.text), [cst.Arg(cst.parse_expression(one))]) for one in conditions]
    checks = [cst.SimpleStatementLine([cst.Expr(call)]) for call in calls]
    asked = cst.If(cst.Call(name(compiling.text)), cst.IndentedBlock(checks))
    listed = " and ".join(f"`{one}`" for one in conditions)
    for who, lines, needs in (
        ("the model and the exported program refuse", checks, check.needs),
        ("the exported program refuses", [asked], (*check.needs, *compiling.needs)),
    ):
        written = _COMMENT + "".join(code(line) for line in lines)
        text = written.replace("\n", f"{module.newline}{around.indent}")
        edit = Edit(where[0], where[0], text.encode())
        words = f"{who} what breaks {listed}"
        yield fix(NAME, module.place(statement), [edit], f"state {listed}", needs, [words])


def _statement_at(module: Module, start: int) -> ast.stmt | None:
    nodes = module.nodes.every(ast.AST, ast.stmt)
    return next((one for one in nodes if isinstance(one, ast.stmt) and module.span(one)[0] == start), None)
