"""The text of one expression or statement as a tree of LibCST, which knows its blanks and comments, and back."""

from __future__ import annotations

import ast
from functools import lru_cache

import libcst as cst

from ...codemods.engine.edits import Edit
from ..analysis.unfit import Unfit
from ..syntax.module import Module

_NOWHERE = cst.Module([])


class Fragment:
    """One expression of a module, with the parentheses that group it."""

    def __init__(self, module: Module, node: ast.expr) -> None:
        """Raises Unfit where LibCST does not read what Python reads."""
        self._module = module
        self._start, self._end = module.grouped_span(node)
        self.text = module.source.content[self._start : self._end].decode()
        try:
            # Lines end wherever they like inside parentheses.
            self._whole = cst.parse_module(f"({self.text})")
        except cst.ParserSyntaxError as error:
            raise Unfit("not-read", "LibCST does not read this expression") from error
        (line,) = self._whole.body
        assert isinstance(line, cst.SimpleStatementLine) and isinstance(line.body[0], cst.Expr)
        tree = line.body[0].value
        self.tree = tree.with_changes(lpar=tree.lpar[1:], rpar=tree.rpar[:-1])
        if self._whole.code_for_node(self.tree) != self.text:
            raise Unfit("not-read", "LibCST does not read every byte of this expression")

    def edit(self, tree: cst.BaseExpression) -> Edit:
        """The edit that writes ``tree`` instead; raises Unfit where a comment would be lost."""
        written = self._whole.code_for_node(tree)
        if "\n" in written and _stands_alone(self.text) and not _stands_alone(written):
            written = f"({written})"
        if "#" in self.text and comments(tree) != comments(self.tree):
            raise Unfit("comment-inside", "a comment inside would lose its place")
        content, text = self._module.source.content, written.encode()
        before, after = content[max(self._start - 1, 0) : self._start], content[self._end : self._end + 1]
        gap = b" " if _in_a_word(before) and _in_a_word(text[:1]) else b""
        end = b" " if _in_a_word(after) and _in_a_word(text[-1:]) else b""
        return Edit(self._start, self._end, gap + text + end)


def code(node: cst.CSTNode) -> str:
    """The text of a tree."""
    return _NOWHERE.code_for_node(node)


@lru_cache(maxsize=64)
def name(dotted: str) -> cst.Name | cst.Attribute:
    """A name, or an attribute of one."""
    tree = cst.parse_expression(dotted)
    assert isinstance(tree, (cst.Name, cst.Attribute))
    return tree


def comments(node: cst.CSTNode) -> list[str]:
    """The comments in a tree, in order."""
    if "#" not in code(node):
        return []
    found = _Comments()
    node.visit(found)
    return found.found


class _Comments(cst.CSTVisitor):
    def __init__(self) -> None:
        self.found: list[str] = []

    def visit_Comment(self, node: cst.Comment) -> None:
        self.found.append(node.value)


def broken(blank: object) -> bool:
    """Whether a line ends in what stands between two tokens."""
    return isinstance(blank, cst.ParenthesizedWhitespace) or (
        isinstance(blank, cst.SimpleWhitespace) and ("\n" in blank.value or "\r" in blank.value)
    )


def _stands_alone(text: str) -> bool:
    """Whether an expression ends where its first line does, or has brackets that hold its lines together."""
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return True


def _in_a_word(byte: bytes) -> bool:
    return byte.isalnum() or byte == b"_" or byte >= b"\x80"
