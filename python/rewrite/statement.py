"""The text of one statement as a tree of LibCST, and the edit that writes others in its place."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import libcst as cst

from ...codemods.engine.edits import Edit
from ..analysis.unfit import Unfit
from ..syntax.module import Module, Place
from .fragment import code


class Statement:
    """One statement of a module, in a block of its own; ``alone`` unless another statement begins its line.

    It may hold a comment where it is ``commented``.
    """

    def __init__(self, place: Place) -> None:
        """Raises Unfit where LibCST does not read what Python reads."""
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
            raise Unfit("not-read", "LibCST does not read this statement") from error
        if block.code != whole:
            raise Unfit("not-read", "LibCST does not read every byte of this statement")
        return block

    @property
    def tree(self) -> cst.BaseStatement:
        return self._only(self._block)

    def read(self, text: str) -> cst.BaseStatement:
        """The tree of another statement that would stand here; raises Unfit."""
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
        """The edit that writes ``statements`` in this one's place."""
        only = self._block.body[0]
        if self.indent:
            assert isinstance(only, cst.If)
            statements = [only.with_changes(body=only.body.with_changes(body=statements))]
        written = self._block.with_changes(body=statements).code
        return Edit(self._start, self._end, written[len(self._head) :].removesuffix(self._newline).encode())


def name_in_definition(module: Module, node: ast.FunctionDef) -> tuple[int, int]:
    """The bytes of the name behind ``def``; raises Unfit."""
    tree = Statement(module.place(node)).tree
    assert isinstance(tree, cst.FunctionDef)
    start = module.span(node)[0] + len("def") + len(code(tree.whitespace_after_def).encode())
    return start, start + len(node.name.encode())


def without_names(module: Module, statement: ast.ImportFrom, kept: Sequence[int]) -> Edit:
    """The edit that leaves of the names of an import those at the places ``kept``; raises Unfit."""
    whole = Statement(module.place(statement))
    line = whole.tree
    assert isinstance(line, cst.SimpleStatementLine)
    (tree,) = line.body
    assert isinstance(tree, cst.ImportFrom) and not isinstance(tree.names, cst.ImportStar)
    names = [tree.names[at] for at in kept]
    names[-1] = names[-1].with_changes(comma=tree.names[-1].comma)
    return whole.edit([line.with_changes(body=[tree.with_changes(names=names)])])
