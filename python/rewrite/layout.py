"""How a check looks that is written in place of a statement."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from ..analysis.unfit import Unfit
from .fragment import code, comments, name
from .lines import indented, new_line, one_line, string_breaks
from .precedence import Binding, grouped

_WIDTH = 88


def check(
    function: str,
    condition: cst.BaseExpression,
    message: cst.BaseExpression | None,
    indent: str,
    error: str | None = None,
) -> cst.Call:
    """``function(condition, lambda: message)``, on one line where that fits; ``error`` goes in front of both.

    ``indent`` is what the lines of the statement begin with.
    """
    first = [] if error is None else [name(error)]
    if not comments(condition):
        condition = one_line(condition)
        short = _on_one_line(function, [*first, condition], message)
        if message is None or (short is not None and len(indent) + len(code(short)) <= _WIDTH):
            assert short is not None
            return short
    said = [] if message is None else [_deferred(_broken(message, indent))]
    return _broken_call(name(function), [*first, _laid_out(condition, indent), *said], "")


def _on_one_line(
    function: str, arguments: Sequence[cst.BaseExpression], message: cst.BaseExpression | None
) -> cst.Call | None:
    if message is not None and "\n" in code(message):
        return None
    values = [*arguments, *([] if message is None else [_deferred(message)])]
    return cst.Call(name(function), [cst.Arg(_argument(value)) for value in values])


def _deferred(message: cst.BaseExpression) -> cst.Lambda:
    return cst.Lambda(cst.Parameters(), grouped(message, Binding.CONDITIONAL))


def _argument(node: cst.BaseExpression) -> cst.BaseExpression:
    return grouped(node, Binding.CONDITIONAL)


def _laid_out(condition: cst.BaseExpression, indent: str) -> cst.BaseExpression:
    """The condition as an argument on lines of its own; a call that is too long has one argument a line."""
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
    """A call with one argument a line; its own line begins with ``indentation``."""
    inner = new_line(indentation + "    ")
    args = [one if isinstance(one, cst.Arg) else cst.Arg(one) for one in arguments]
    args = [one.with_changes(value=_argument(one.value)) for one in args]
    lines = [one.with_changes(comma=cst.Comma(whitespace_after=inner)) for one in args[:-1]]
    last = args[-1].with_changes(comma=cst.Comma(whitespace_after=new_line(indentation)))
    return cst.Call(function, [*lines, last], whitespace_before_args=inner)


def _broken(message: cst.BaseExpression, indent: str) -> cst.BaseExpression:
    """The message on the lines it has, in parentheses; raises Unfit when a string goes over the end of a line."""
    if "\n" not in code(message):
        return message
    if string_breaks(message):
        raise Unfit("message-shape", "a string of the message goes over the end of a line")
    moved = indented(message, indent, "        ")
    return moved.with_changes(
        lpar=[cst.LeftParen(new_line("        ")), *moved.lpar], rpar=[*moved.rpar, cst.RightParen(new_line("    "))]
    )
