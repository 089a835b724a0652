"""How a statement that is written anew looks."""

from __future__ import annotations

import ast
import io
import textwrap
import tokenize

from ._module import Module
from ._together import Unfit

_WIDTH = 88


def indentation(module: Module, node: ast.stmt) -> str:
    """The blanks before a statement; raises Unfit when something else stands there."""
    content = module.source.content
    start = module.span(node)[0]
    before = content[max(content.rfind(b"\n", 0, start), content.rfind(b"\r", 0, start)) + 1 : start]
    if before.strip():
        raise Unfit("one-line-suite", "the statement shares its line with another")
    return before.decode()


def comments_in(module: Module, node: ast.stmt, indent: str) -> str:
    """The comments inside a statement, one a line, to stand above what replaces it."""
    start, end = module.span(node)
    text = module.source.content[start:end].decode()
    if "#" not in text:
        return ""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = [token.string for token in tokens if token.type == tokenize.COMMENT]
    newline = line_end(module)
    return "".join(comment + newline + indent for comment in comments)


def check_statement(
    check: str, condition: str, message: str | None, indent: str, newline: str, error: str | None = None
) -> str:
    """``torch._check(condition, lambda: message)``, on one line where that fits; ``error`` goes in front of both."""
    first = [] if error is None else [f"{error},"]
    if message is None:
        return f"{check}({' '.join([*first, condition])})"
    if "\n" not in message:
        line = f"{check}({' '.join([*first, condition])}, lambda: {message})"
        if len(indent) + len(line) <= _WIDTH:
            return line
        said = [f"lambda: {message},"]
    else:
        said = ["lambda: (", *("    " + line for line in _dedented(message)), "),"]
    lines = [f"{check}(", *("    " + line for line in [*first, *_broken(condition, len(indent) + 4), *said]), ")"]
    return (newline + indent).join(lines)


def _broken(condition: str, column: int) -> list[str]:
    """The condition as lines of an argument list: a call that is too long has one argument a line."""
    if column + len(condition) < _WIDTH:
        return [f"{condition},"]
    tree = ast.parse(condition, mode="eval").body
    if not isinstance(tree, ast.Call) or not condition.isascii():
        return [f"{condition},"]
    arguments = [condition[one.col_offset : one.end_col_offset] for one in tree.args]
    return [condition[: tree.func.end_col_offset] + "(", *(f"    {argument}," for argument in arguments), "),"]


def _dedented(message: str) -> list[str]:
    if unbreakable(message):
        raise Unfit("message-shape", "a string of the message goes over the end of a line")
    first, _, rest = message.partition("\n")
    return [first.strip(), *(line.rstrip() for line in textwrap.dedent(rest).splitlines())]


def unbreakable(text: str) -> bool:
    """A string or a backslash goes over the end of a line, so the lines cannot be laid out anew."""
    return any(piece in text for piece in ('"""', "'''", "\\\n", "\\\r\n"))


def line_end(module: Module) -> str:
    """What ends the lines of the file."""
    content = module.source.content
    at = content.find(b"\n")
    return "\r\n" if at > 0 and content[at - 1 : at] == b"\r" else "\n"
