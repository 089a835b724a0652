"""Statements of a program beside those of eager: the branch that only a trace takes."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Safety
from ...codemods.system.python_parser import parse_expression
from ..analysis.flow.row_steps import listings
from ..analysis.types.cannot_rewrite import CannotRewrite
from ..rewrite.findings import fix
from ..rewrite.qualified_names import COMPILING, spelled_out
from ..syntax.module import Module
from .local_functions import Layout, NameChooser, shifted


@dataclass(frozen=True)
class ProgramBranch:
    """A run of statements of one block that the program computes in another way."""

    module: Module
    context: Context
    statements: Sequence[ast.stmt]

    @property
    def layout(self) -> Layout:
        """Return the layout of the lines of the program. Raises CannotRewrite."""
        first = self.statements[0]
        indent = self.module.indentation(first)
        inner = first.body[0] if isinstance(first, ast.For) else None
        if indent is None or (inner is not None and self.module.indentation(inner) is None):
            raise CannotRewrite("one-line", f"at line {first.lineno} the loop stands on one line")
        unit = self.module.unit_of_indentation(inner if inner is not None else first)
        return Layout(indent + unit, unit, self.module.newline)

    def fix(self, rule: str, lines: Sequence[str], message: str, needs: Sequence[str] = ()) -> Fix:
        """Return the fix that puts ``lines`` in the program, and leaves the statements to eager.

        Raises CannotRewrite.
        """
        first, layout = self.statements[0], self.layout
        compiling = spelled_out(self.module, first, COMPILING, self.context)
        outer = layout.indent.removesuffix(layout.unit)
        kept = shifted(self.module, self.statements, layout.indent, changed=False)
        inside = [f"{layout.indent}{line}" if line else "" for line in lines]
        gap = [""] if lines[0].startswith("def ") else []
        written = [f"if {compiling.text}():", *gap, *inside, f"{outer}else:", kept]
        start, end = self.module.span(first)[0], self.module.span(self.statements[-1])[1]
        edits = [Edit(start, end, layout.newline.join(written).encode())]
        edits += [self._left_out(one, compiling.text) for one in listings(self.module, self.statements)]
        words = ["in the program one operation takes the place of all steps, in eager each step is as before"]
        place = self.module.place(first)
        return fix(rule, place, edits, message, (*needs, *compiling.needs), words, Safety.UNSAFE)

    def _left_out(self, statement: ast.stmt, compiling: str) -> Edit:
        """Return the edit that makes a list of numbers in eager only: the number of its elements would be fixed."""
        indent = self.module.indentation(statement)
        if indent is None:
            raise CannotRewrite("one-line", f"at line {statement.lineno} the list stands behind another statement")
        inner = indent + self.layout.unit
        kept = shifted(self.module, [statement], inner, changed=False)
        head = f"if not {compiling}():{self.module.newline}"
        return Edit(*self.module.span(statement), f"{head}{kept}".encode())

    def joined(self, call: ast.expr, text: str) -> str:
        """Return the last statement with ``text`` in the place of a call in it."""
        last = self.statements[-1]
        start, end = self.module.span(last)
        at = self.module.span(call)
        content = self.module.source.content
        if b"\n" in content[start : at[0]] + content[at[1] : end]:
            raise CannotRewrite("comment-inside", f"at line {last.lineno} the statement goes over several lines")
        alone = isinstance(self.module.parents[call], ast.stmt)
        written = text if alone else grouped(text)
        return f"{content[start : at[0]].decode()}{written}{content[at[1] : end].decode()}"


def grouped(text: str) -> str:
    """Return the text of an expression as an operand: in parentheses if an operator is its outermost part."""
    bare = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant)
    return text if isinstance(parse_expression(text), bare) else f"({text})"


def named_once(chooser: NameChooser, wanted: str, text: str) -> tuple[str, list[str]]:
    """Return a name for the value of an expression that is used several times, and the line that gives it."""
    if text.isidentifier():
        return text, []
    name = chooser.choose(wanted)
    return name, [f"{name} = {text}"]
