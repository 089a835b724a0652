"""Edits that put a call around an expression, and find the operator between two operands."""

from __future__ import annotations

import ast
import io
import tokenize

from ..codemods.engine.edits import Edit
from ._module import Module

# Enough open parentheses that those closed between two operands never end the line for the tokenizer.
_OPEN = "(" * 16


def call_around(module: Module, node: ast.expr, name: str, before: str = "", after: str = "") -> tuple[Edit, ...]:
    """``node`` → ``name(before node after)``; parentheses that already group it become those of the call."""
    start, end = module.span(node)
    wide_start, _wide_end = module.grouped_span(node)
    content = module.source.content
    gap = _gap(content, wide_start)
    if wide_start != start and not before and not after:
        return (Edit(wide_start, wide_start, (gap + name).encode()),)
    gap = _gap(content, start)
    opening = Edit(start, start, f"{gap}{name}({before}".encode())
    return opening, Edit(end, end, f"{after})".encode())


def _gap(content: bytes, at: int) -> str:
    """A blank where a name would run into the word before it."""
    before = content[at - 1 : at]
    return " " if before.isalnum() or before == b"_" else ""


def comparison_as_call(module: Module, node: ast.Compare, name: str, closing: str = ")") -> tuple[Edit, ...]:
    """``a == b`` → ``name(a, b)``; ``closing`` closes what ``name`` opens."""
    start, end = module.grouped_span(node)
    grouped = (start, end) != module.span(node)
    content = module.source.content
    gap = _gap(content, start)
    comma = _comma(content, operator_between(module, node.left, node.comparators[0]))
    opening = Edit(start, start, (gap + name + ("" if grouped else "(")).encode())
    rest = closing[1:] if grouped else closing
    return (opening, comma, Edit(end, end, rest.encode())) if rest else (opening, comma)


def _comma(content: bytes, operator: tuple[int, int]) -> Edit:
    """Put a comma in place of an operator, without the blank before it."""
    start, end = operator
    while content[start - 1 : start] in (b" ", b"\t"):
        start -= 1
    return Edit(start, end, b",")


def join_with_commas(module: Module, left: ast.expr, right: ast.expr) -> tuple[Edit, ...]:
    """Turn the operator between two operands into a comma; one at the head of a line moves to the line's end."""
    start, end = operator_between(module, left, right)
    content = module.source.content
    line = content.rfind(b"\n", 0, start) + 1
    if content[line:start].strip():
        return (_comma(content, (start, end)),)
    after_left = module.grouped_span(left)[1]
    while content[end : end + 1] in (b" ", b"\t"):
        end += 1
    return Edit(after_left, after_left, b","), Edit(start, end, b"")


def operator_between(module: Module, left: ast.expr, right: ast.expr) -> tuple[int, int]:
    """Byte range of the operator that stands between two operands, comments and parentheses apart."""
    start, end = module.span(left)[1], module.span(right)[0]
    text = module.source.content[start:end].decode()
    found: list[tokenize.TokenInfo] = []
    lines = text.split("\n")
    try:
        for token in tokenize.generate_tokens(io.StringIO(_OPEN + text + "_").readline):
            if token.type in (tokenize.OP, tokenize.NAME) and token.string not in ("(", ")", "_"):
                found.append(token)
    except tokenize.TokenError:
        pass
    if not found:
        raise ValueError(f"no operator between {module.text(left)!r} and {module.text(right)!r}")
    first, last = found[0], found[-1]
    return start + _offset(lines, first.start), start + _offset(lines, last.end)


def _offset(lines: list[str], place: tuple[int, int]) -> int:
    row, column = place
    if row == 1:
        column -= len(_OPEN)
    before = [*lines[: row - 1], lines[row - 1][:column]]
    return len("\n".join(before).encode())
