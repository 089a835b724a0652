"""Construction of a branch for TorchScript, and of the function that TorchScript does not compile."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

import libcst as cst

from ...codemods.model.edit import Edit
from ..syntax.module import Module
from .applied_changes import changed
from .change_types import Called, Change, Equated, Plain
from .expressions import call, name
from .statements import Statement


def parsed(module: Module, node: ast.stmt, text: bytes) -> cst.BaseStatement:
    """Return the one statement in ``text``, parsed as a replacement of ``node``."""
    return Statement(module.place(node)).read(text.decode())


def warning(module: Module, node: ast.If, compared: ast.Compare) -> cst.BaseStatement:
    """Return an ``if`` that warns of different shapes, with undecided ones taken as equal.

    It is to be called one frame further down.
    """
    tree = Statement(module.place(node)).tree
    assert isinstance(tree, cst.If)
    changes: list[tuple[ast.expr, Change]] = [(compared, Equated("sym_eq")), (compared, Called("guard_or_true"))]
    changes += [(compared, Plain.NEGATED), *([] if node.test is compared else [(node.test, Plain.AFFIRMED)])]
    further = tree.body.visit(_OneFrameFurther())
    return tree.with_changes(test=changed(node.test, tree.test, changes), body=further)


class _OneFrameFurther(cst.CSTTransformer):
    """Transformer that increments ``stacklevel``, since the warning comes from a function one frame further down."""

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        level = updated_node.value
        if updated_node.keyword is None or updated_node.keyword.value != "stacklevel":
            return updated_node
        if not isinstance(level, cst.Integer):
            return updated_node
        return updated_node.with_changes(value=cst.Integer(str(level.evaluated_value + 1)))


def branch_for_script(module: Module, node: ast.If, scripting: str, helper: str, parameters: Sequence[str]) -> Edit:
    """Return ``if scripting():`` with the unchanged statement, else a call of ``helper``. Raise CannotRewrite."""
    statement = Statement(module.place(node))
    called = call(helper, [cst.Arg(cst.Name(one)) for one in parameters])
    unit = module.unit_of_indentation(node.body[0])
    otherwise = cst.Else(cst.IndentedBlock([cst.SimpleStatementLine([cst.Expr(called)])], indent=unit))
    return statement.edit([cst.If(call(scripting, []), cst.IndentedBlock([statement.tree], indent=unit), otherwise)])


def function_unused(
    module: Module,
    unused: str,
    helper: str,
    parameters: Sequence[str],
    imports: Mapping[str, Sequence[str]],
    body: cst.BaseStatement,
    returns: str | None = None,
) -> str:
    """Return the text of a function with the decorator ``unused``, its own imports, and two empty lines after it."""
    lines = [
        cst.SimpleStatementLine([cst.ImportFrom(name(home), [cst.ImportAlias(cst.Name(one)) for one in sorted(names)])])
        for home, names in sorted(imports.items())
    ]
    empty = [cst.EmptyLine(indent=False)] if lines else []
    assert isinstance(body, (cst.SimpleStatementLine, cst.If))
    first = body.with_changes(leading_lines=[*empty, *body.leading_lines])
    function = cst.FunctionDef(
        cst.Name(helper),
        cst.Parameters([cst.Param(cst.Name(one)) for one in parameters]),
        cst.IndentedBlock([*lines, first]),
        [cst.Decorator(name(unused))],
        None if returns is None else cst.Annotation(cst.Name(returns)),
    )
    text = cst.Module([], default_newline=module.newline).code_for_node(function)
    return text + module.newline * 2
