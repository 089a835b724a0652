"""Statements of a program beside those of eager: the branch that only a trace takes."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Safety
from ..analysis.types.cannot_rewrite import CannotRewrite
from ..rewrite.findings import fix
from ..rewrite.qualified_names import COMPILING, spelled_out
from ..syntax.module import Module
from .local_functions import Layout, shifted

_WORDS = "in the program one operation takes the place of all steps, in eager each step is as before"


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
        indent, unit = self.module.indentation(first), self.module.unit_of_indentation(first)
        last = self.statements[-1]
        end = self.module.span(last)[1]
        rest = self.module.source.content[end:].split(b"\n", 1)[0].strip()
        if indent is None or indent.strip(" \t") or (rest and not rest.startswith(b"#")):
            raise CannotRewrite("one-line", f"at line {last.lineno} another statement is on the same line")
        return Layout(indent + unit, unit, self.module.newline)

    def fix(
        self, rule: str, lines: Sequence[str], message: str, needs: Sequence[str], doubts: Sequence[str] = ()
    ) -> Fix:
        """Return the fix that puts ``lines`` in the program, and leaves the statements to eager.

        Raises CannotRewrite.
        """
        first, layout = self.statements[0], self.layout
        compiling = spelled_out(self.module, first, COMPILING, self.context)
        kept = shifted(self.module, self.statements, layout.indent, changed=False)
        inside = [f"{layout.indent}{line}" if line else "" for line in lines]
        outer = layout.indent.removesuffix(layout.unit)
        written = [f"if {compiling.text}():", *inside, f"{outer}else:", kept]
        start, end = self.module.span(first)[0], self.module.span(self.statements[-1])[1]
        edit = Edit(start, end, layout.newline.join(written).encode())
        needs = (*needs, *compiling.needs)
        return fix(rule, self.module.place(first), [edit], message, needs, [_WORDS, *doubts], Safety.UNSAFE)

    def replaced(self, call: ast.expr, text: str) -> str:
        """Return the last statement with ``text`` in the place of a call in it."""
        last = self.statements[-1]
        (start, end), at = self.module.span(last), self.module.span(call)
        content = self.module.source.content
        if b"\n" in content[start : at[0]] + content[at[1] : end]:
            raise CannotRewrite("several-lines", f"at line {last.lineno} the statement goes over several lines")
        return f"{content[start : at[0]].decode()}{text}{content[at[1] : end].decode()}"
