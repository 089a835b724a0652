"""Construction of a check, or another statement, in place of a statement, by LibCST."""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Iterator, Sequence

import libcst as cst

from ...codemods.model.edit import Edit
from ..analysis.types.cannot_rewrite import CannotRewrite
from ..syntax.module import Module, Place
from .applied_changes import changed
from .change_types import Changes
from .expressions import Binding, call, comparison, grouped, in_full, name, ungrouped
from .lines import code, comments, flat, indented, new_line, one_line, string_breaks

_WIDTH = 88


class Statement:
    """One statement of a module, in a separate block. ``alone`` unless another statement begins its line.

    ``commented``: it may contain a comment.
    """

    def __init__(self, place: Place) -> None:
        """Parse the statement. Raise CannotRewrite if LibCST does not reproduce the text."""
        self._start, self._end = place.span
        indent = place.indentation
        self.alone = indent is not None
        self.indent = indent or ""
        self._newline = place.module.newline
        self._head = f"if _:{self._newline}{self.indent}" if self.indent else ""
        text = place.text
        self.commented = "#" in text
        self._block = self._parsed(text)

    def _parsed(self, text: str) -> cst.Module:
        whole = f"{self._head}{text}{self._newline}"
        try:
            block = cst.parse_module(whole)
        except cst.ParserSyntaxError as error:
            raise CannotRewrite("not-read", "LibCST does not read this statement") from error
        if block.code != whole:
            raise CannotRewrite("not-read", "LibCST does not read every byte of this statement")
        return block

    @property
    def tree(self) -> cst.BaseStatement:
        return self._only(self._block)

    def read(self, text: str) -> cst.BaseStatement:
        """Return the tree of another statement at this position. Raise CannotRewrite."""
        return self._only(self._parsed(text))

    def _only(self, block: cst.Module) -> cst.BaseStatement:
        only = block.body[0]
        if not self.indent:
            assert isinstance(only, cst.BaseStatement)
            return only
        assert isinstance(only, cst.If) and isinstance(only.body, cst.IndentedBlock)
        (statement,) = only.body.body
        assert isinstance(statement, cst.BaseStatement)
        return statement

    def edit(self, statements: Sequence[cst.BaseStatement]) -> Edit:
        """Return the edit that replaces this statement by ``statements``."""
        only = self._block.body[0]
        if self.indent:
            assert isinstance(only, cst.If)
            statements = [only.with_changes(body=only.body.with_changes(body=statements))]
        written = self._block.with_changes(body=statements).code
        return Edit(self._start, self._end, written[len(self._head) :].removesuffix(self._newline).encode())


def name_in_definition(module: Module, node: ast.FunctionDef) -> tuple[int, int]:
    """Return the byte range of the name behind ``def``. Raise CannotRewrite."""
    tree = Statement(module.place(node)).tree
    assert isinstance(tree, cst.FunctionDef)
    start = module.span(node)[0] + len("def") + len(code(tree.whitespace_after_def).encode())
    return start, start + len(node.name.encode())


def without_names(module: Module, statement: ast.ImportFrom, kept: Sequence[int]) -> Edit:
    """Return the edit that keeps only the names of an import at the indices ``kept``. Raise CannotRewrite."""
    whole = Statement(module.place(statement))
    line = whole.tree
    assert isinstance(line, cst.SimpleStatementLine)
    (tree,) = line.body
    assert isinstance(tree, cst.ImportFrom) and not isinstance(tree.names, cst.ImportStar)
    names = [tree.names[at] for at in kept]
    names[-1] = names[-1].with_changes(comma=tree.names[-1].comma)
    return whole.edit([line.with_changes(body=[tree.with_changes(names=names)])])


def check_instead(
    place: Place,
    node: ast.If | ast.Assert,
    changes: Changes,
    function: str,
    message: ast.expr | None,
    error: str | None = None,
) -> tuple[Statement, cst.SimpleStatementLine]:
    """Return ``function(condition, lambda: message)`` and the statement it replaces. Raise CannotRewrite.

    ``changes`` turn the statement's test into the condition. Comments inside the condition and the message keep their
    places. The others move above.
    """
    statement = Statement(place)
    if not statement.alone:
        raise CannotRewrite("one-line-suite", "the statement shares its line with another")
    test, said = _parts(statement.tree, node, message)
    condition = changed(node.test, test, changes)
    if statement.commented and comments(test) != comments(condition):
        raise CannotRewrite("comment-inside", "a comment inside the condition would lose its place")
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
    """Return the edit that writes `check_instead`. Raise CannotRewrite."""
    statement, line = check_instead(place, node, changes, function, message, error)
    return statement.edit([line])


def check_while_compiling(
    place: Place,
    node: ast.If | ast.Assert,
    changes: Changes,
    function: str,
    message: ast.expr | None,
    asked: Sequence[str],
) -> Edit:
    """Return the edit that adds a check while compiling, with the statement in its else. Raise CannotRewrite.

    It writes ``if compiling(): function(condition, lambda: "...")``. ``asked`` names the function that is true while
    torch compiles. If TorchScript must bypass the check, it also names the one that is true in TorchScript. An ``if``
    becomes the ``elif``. The text of the check has the names of the values in the ``message``. Without a message, it
    has no text.
    """
    statement = Statement(place)
    if not statement.alone:
        raise CannotRewrite("one-line-suite", "the statement shares its line with another")
    test, _ = _parts(statement.tree, node, None)
    condition = flat(changed(node.test, test, changes))
    if "\n" in code(condition):
        raise CannotRewrite("multi-line", "a string of the condition goes over the end of a line")
    unit = place.module.unit_of_indentation(node.body[0]) if isinstance(node, ast.If) else "    "
    verb = "expected" if isinstance(node, ast.Assert) else "unexpected"
    said = None
    if message is not None:
        said = text_literal(traced_text(message) or f"{verb} {ast.unparse(node.test)}")
    line = check(function, condition, said, statement.indent + unit)
    tree = statement.tree
    otherwise = tree if isinstance(tree, cst.If) else cst.Else(cst.IndentedBlock([tree], indent=unit))
    body = cst.IndentedBlock([cst.SimpleStatementLine([cst.Expr(line)])], indent=unit)
    whole: cst.BaseExpression = call(asked[0], [])
    for scripting in asked[1:]:
        outside = cst.UnaryOperation(cst.Not(), call(scripting, []))
        whole = cst.BooleanOperation(outside, cst.And(), whole)
    return statement.edit([cst.If(whole, body, otherwise)])


def traced_text(message: ast.expr) -> str | None:
    """Return the text of a message with the names of its values in their places, or None if a call builds it."""
    if isinstance(message, ast.Constant):
        return message.value if isinstance(message.value, str) else None
    if isinstance(message, ast.JoinedStr):
        return "".join(
            str(one.value) if isinstance(one, ast.Constant) else ast.unparse(one.value)  # type: ignore[attr-defined]
            for one in message.values
        )
    if isinstance(message, ast.BinOp) and isinstance(message.op, ast.Add):
        parts = traced_text(message.left), traced_text(message.right)
        return None if None in parts else "".join(part for part in parts if part)
    return None


def text_literal(text: str) -> cst.SimpleString:
    """Return a string in double quotes."""
    return cst.SimpleString(json.dumps(text, ensure_ascii=False))


def limit_behind(module: Module, call: ast.Call, changes: Changes, keyword: str) -> Edit:
    """Return the edit that makes ``changes`` to ``check(n, keyword=m)`` and adds ``check(n <= m)`` behind it.

    Raise CannotRewrite.
    """
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
        raise CannotRewrite("comment-inside", "a comment inside would lose its place")
    lines = [[one] for one in checks] if whole.alone else [checks]
    return whole.edit([cst.SimpleStatementLine(line) for line in lines])


def value_instead(module: Module, node: ast.If, function: str) -> Edit:
    """Return the edit ``if c: n -= 1`` → ``n = function(c, n - 1, n)``. Raise CannotRewrite."""
    statement = Statement(module.place(node))
    tree = statement.tree
    assert isinstance(tree, cst.If)
    (line,) = tree.body.body
    (only,) = _small(line)
    if not statement.alone:
        raise CannotRewrite("one-line-suite", "the statement shares its line with another")
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
    """Return the call without one of its arguments. The whitespace after the last argument is kept."""
    (gone,) = (one for one in call.args if one.keyword is not None and one.keyword.value == keyword)
    kept = [one for one in call.args if one is not gone]
    if gone is call.args[-1]:
        kept[-1] = kept[-1].with_changes(comma=gone.comma, whitespace_after_arg=gone.whitespace_after_arg)
    return call.with_changes(args=kept)


def _commented(line: cst.SimpleStatementLine, old: cst.BaseStatement) -> cst.SimpleStatementLine:
    """Return ``line`` below those comments of the ``old`` statement that it does not have."""
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
    """Return the condition and the message of a statement, in its tree."""
    if isinstance(tree, cst.If):
        said = next(_messages(tree)) if message is not None else None
        return tree.test, None if said is None else ungrouped(said)
    (only,) = _small(tree)
    assert isinstance(only, cst.Assert)
    return only.test, None if only.msg is None else ungrouped(only.msg)


def _messages(tree: cst.If) -> Iterator[cst.BaseExpression]:
    """Yield the values assigned before an exception is raised, and the exception's argument."""
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


def check(
    function: str,
    condition: cst.BaseExpression,
    message: cst.BaseExpression | None,
    indent: str,
    error: str | None = None,
) -> cst.Call:
    """Return ``function(condition, lambda: message)``, on one line if that fits. ``error`` goes in front of both.

    ``indent`` is the indentation of the statement.
    """
    first = [] if error is None else [name(error)]
    flat = one_line(condition)
    if flat is not None:
        condition = flat
        last = [] if message is None else [_deferred(message)]
        short = call(function, [cst.Arg(value) for value in (*first, condition, *last)])
        text = code(short)
        if message is None or ("\n" not in text and len(indent) + len(text) <= _WIDTH):
            return short
    said = [] if message is None else [_deferred(_broken(message, indent))]
    return _broken_call(name(function), [*first, _laid_out(condition, indent), *said], "")


def _deferred(message: cst.BaseExpression) -> cst.Lambda:
    return cst.Lambda(cst.Parameters(), grouped(message, Binding.CONDITIONAL))


def _laid_out(condition: cst.BaseExpression, indent: str) -> cst.BaseExpression:
    """Return the condition as an argument on separate lines. A call that is too long has one argument a line."""
    text = code(condition)
    if "\n" in text:
        closes = text.rpartition("\n")[2].strip() in (")", "]", "))", ")]")
        return indented(condition, indent, "    " if closes else "        ")
    if len(indent) + 4 + len(text) < _WIDTH or not isinstance(condition, cst.Call):
        return condition
    return _broken_call(condition.func, condition.args, "    ")


def _broken_call(
    function: cst.BaseExpression, arguments: Sequence[cst.BaseExpression | cst.Arg], indentation: str
) -> cst.Call:
    """Return a call with one argument a line. Its own line begins with ``indentation``."""
    inner = new_line(indentation + "    ")
    args = [one if isinstance(one, cst.Arg) else cst.Arg(one) for one in arguments]
    args = [one.with_changes(value=grouped(one.value, Binding.CONDITIONAL)) for one in args]
    lines = [one.with_changes(comma=cst.Comma(whitespace_after=inner)) for one in args[:-1]]
    last = args[-1].with_changes(comma=cst.Comma(whitespace_after=new_line(indentation)))
    return cst.Call(function, [*lines, last], whitespace_before_args=inner)


def _broken(message: cst.BaseExpression, indent: str) -> cst.BaseExpression:
    """Return the message on its original lines, in parentheses. Raise CannotRewrite if a string spans several lines."""
    if "\n" not in code(message):
        return message
    if string_breaks(message):
        raise CannotRewrite("message-shape", "a string of the message goes over the end of a line")
    moved = indented(message, indent, "        ")
    return moved.with_changes(
        lpar=[cst.LeftParen(new_line("        ")), *moved.lpar], rpar=[*moved.rpar, cst.RightParen(new_line("    "))]
    )
