"""Write a check in place of a statement that refuses bad sizes."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

import libcst as cst

from ...codemods.engine.edits import Edit
from ..analysis.unfit import Unfit
from ..syntax.module import Module, Place
from .changes import Changes
from .fragment import comments
from .layout import check
from .rewriting import call, changed, comparison, in_full, ungrouped
from .statement import Statement


def check_instead(
    place: Place,
    node: ast.If | ast.Assert,
    changes: Changes,
    function: str,
    message: ast.expr | None,
    error: str | None = None,
) -> tuple[Statement, cst.SimpleStatementLine]:
    """``function(condition, lambda: message)`` and the statement it replaces; raises Unfit.

    ``changes`` make the condition of the statement's test. Comments of the condition and the message keep their places;
    the others stand above.
    """
    statement = Statement(place)
    if not statement.alone:
        raise Unfit("one-line-suite", "the statement shares its line with another")
    test, said = _parts(statement.tree, node, message)
    condition = changed(node.test, test, changes)
    if statement.commented and comments(test) != comments(condition):
        raise Unfit("comment-inside", "a comment inside the condition would lose its place")
    call = check(function, condition, said, statement.indent, error)
    line = cst.SimpleStatementLine([cst.Expr(call)])
    return statement, _commented(line, statement.tree) if statement.commented else line


def check_edit(
    place: Place,
    node: ast.If | ast.Assert,
    changes: Changes,
    function: str,
    message: ast.expr | None,
    error: str | None = None,
) -> Edit:
    """The edit that writes `check_instead`; raises Unfit."""
    statement, line = check_instead(place, node, changes, function, message, error)
    return statement.edit([line])


def limit_behind(module: Module, call: ast.Call, changes: Changes, keyword: str) -> Edit:
    """The edit that makes ``changes`` to ``check(n, keyword=m)`` and says ``check(n <= m)`` behind it; raises Unfit."""
    statement = module.parents[call]
    assert isinstance(statement, ast.Expr)
    whole = Statement(module.place(statement))
    (line,) = _small(whole.tree)
    assert isinstance(line, cst.Expr) and isinstance(line.value, cst.Call)
    made = changed(call, line.value, changes)
    assert isinstance(made, cst.Call)
    values = {one.keyword.value if one.keyword else str(at): one.value for at, one in enumerate(line.value.args)}
    limit = comparison(values["0"], cst.LessThanEqual(), values[keyword])
    message = values.get("1", values.get("message"))
    arguments = [cst.Arg(limit), *([] if message is None else [cst.Arg(message)])]
    checks = [cst.Expr(_without(made, keyword)), cst.Expr(cst.Call(made.func, arguments))]
    if sorted(one for each in checks for one in comments(each)) != sorted(comments(line)):
        raise Unfit("comment-inside", "a comment inside would lose its place")
    lines = [[one] for one in checks] if whole.alone else [checks]
    return whole.edit([cst.SimpleStatementLine(line) for line in lines])


def value_instead(module: Module, node: ast.If, function: str) -> Edit:
    """The edit that makes ``n = function(c, n - 1, n)`` of ``if c: n -= 1``; raises Unfit."""
    statement = Statement(module.place(node))
    tree = statement.tree
    assert isinstance(tree, cst.If)
    (line,) = tree.body.body
    (only,) = _small(line)
    if not statement.alone:
        raise Unfit("one-line-suite", "the statement shares its line with another")
    if isinstance(only, cst.AugAssign):
        target: cst.BaseExpression = only.target
        value: cst.BaseExpression = in_full(only)
    else:
        assert isinstance(only, cst.Assign)
        target, value = only.targets[0].target, only.value
    assert isinstance(target, cst.Name)
    choice = call(function, [cst.Arg(ungrouped(one)) for one in (tree.test, value, target)])
    line = cst.SimpleStatementLine([cst.Assign([cst.AssignTarget(target)], choice)])
    return statement.edit([_commented(line, tree)])


def _without(call: cst.Call, keyword: str) -> cst.Call:
    """The call without one of its arguments; where that is the last one, what stands behind it stays."""
    (gone,) = (one for one in call.args if one.keyword is not None and one.keyword.value == keyword)
    kept = [one for one in call.args if one is not gone]
    if gone is call.args[-1]:
        kept[-1] = kept[-1].with_changes(comma=gone.comma, whitespace_after_arg=gone.whitespace_after_arg)
    return call.with_changes(args=kept)


def _commented(line: cst.SimpleStatementLine, old: cst.BaseStatement) -> cst.SimpleStatementLine:
    """``line`` below those comments of the ``old`` statement that it does not have."""
    kept, above = Counter(comments(line)), []
    for one in comments(old):
        if kept[one]:
            kept[one] -= 1
        else:
            above.append(cst.EmptyLine(comment=cst.Comment(one)))
    return line.with_changes(leading_lines=above)


def _parts(
    tree: cst.BaseStatement, node: ast.If | ast.Assert, message: ast.expr | None
) -> tuple[cst.BaseExpression, cst.BaseExpression | None]:
    """The condition and the message of a statement, in its tree."""
    if isinstance(tree, cst.If):
        said = next(_messages(tree)) if message is not None else None
        return tree.test, None if said is None else ungrouped(said)
    (only,) = _small(tree)
    assert isinstance(only, cst.Assert)
    return only.test, None if only.msg is None else ungrouped(only.msg)


def _messages(tree: cst.If) -> Iterator[cst.BaseExpression]:
    """What is assigned before an exception is raised, or what the exception is given."""
    for line in tree.body.body:
        for one in _small(line):
            if isinstance(one, cst.Assign):
                yield one.value
            elif isinstance(one, cst.Raise) and isinstance(one.exc, cst.Call):
                yield one.exc.args[0].value


def _small(line: cst.BaseStatement | cst.BaseSmallStatement) -> Sequence[cst.BaseSmallStatement]:
    if isinstance(line, cst.BaseSmallStatement):
        return [line]
    assert isinstance(line, cst.SimpleStatementLine)
    return line.body
