"""Model of one Python file: its tree, the position and byte range of every node, and the meaning of its names.

The tree is ``ast``'s. Its positions are byte offsets, so an edit replaces exactly the bytes of an expression.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, count
from operator import add

from ...codemods.model.lock_free_property import lazily
from ...codemods.model.source_file import SourceFile
from .names import Names
from .tree import FunctionDefinition, Nodes, Survey, syntax_tree

_BLANK = frozenset(b" \t\r\n\f")
_LINE_END = re.compile(rb"\r\n|\r|\n")
_BEFORE_GROUP = frozenset(
    {b"if", b"elif", b"while", b"not", b"and", b"or", b"return", b"in", b"is", b"else", b"assert"}
)
_KEYWORD_BEFORE = re.compile(rb"([A-Za-z_][A-Za-z0-9_]*)\s*$")


@dataclass(eq=False)
class Module:
    """A parsed source file. The constructor raises SyntaxError or ValueError if the file does not parse."""

    source: SourceFile
    tree: ast.Module = field(init=False)

    def __post_init__(self) -> None:
        self.tree = syntax_tree(self.source.content)

    @lazily
    def _survey(self) -> Survey:
        return Survey(self.tree)

    @lazily
    def nodes(self) -> Nodes:
        """Return every node of the file."""
        return self._survey.nodes

    @lazily
    def parents(self) -> dict[ast.AST, ast.AST]:
        return self._survey.parents

    @lazily
    def functions(self) -> list[FunctionDefinition]:
        """Return every function of the file, outer before inner."""
        return self._survey.functions

    @lazily
    def names(self) -> Names:
        return Names(self.tree, self._survey)

    @lazily
    def torch_name(self) -> str:
        """Return the dotted name of a module of PyTorch itself, or an empty string for any other."""
        parts = self.source.path.with_suffix("").parts
        if "torch" not in parts[:-1]:
            return ""
        last = len(parts) - 2 - parts[-2::-1].index("torch")
        return ".".join(parts[last:]).removesuffix(".__init__")

    @lazily
    def own_tree(self) -> bool:
        """Return whether the file is a part of PyTorch itself."""
        return bool(self.torch_name)

    @lazily
    def newline(self) -> str:
        """Return the line ending of the file."""
        at = self.source.content.find(b"\n")
        return "\r\n" if at > 0 and self.source.content[at - 1 : at] == b"\r" else "\n"

    def place(self, node: ast.AST) -> Place:
        """Return the place of a node."""
        parents, functions = self.parents, self._function_by_statement
        of_expression: list[ast.AST] = []
        at: ast.AST | None = node
        in_expression = True
        while at is not None and at not in functions:
            at = parents.get(at)
            in_expression = in_expression and not isinstance(at, ast.stmt)
            if in_expression and at is not None:
                of_expression.append(at)
        return Place(self, node, None if at is None else functions[at], of_expression)

    def function_of(self, node: ast.AST) -> FunctionDefinition | None:
        """Return the innermost function whose body contains a node."""
        parents, functions = self.parents, self._function_by_statement
        at: ast.AST | None = node
        while at is not None and at not in functions:
            at = parents.get(at)
        return None if at is None else functions[at]

    @lazily
    def _function_by_statement(self) -> dict[ast.AST, FunctionDefinition]:
        return {statement: function for function in self.functions for statement in function.node.body}

    @lazily
    def _line_starts(self) -> list[int]:
        content = self.source.content
        first = 3 if content.startswith(b"\xef\xbb\xbf") else 0
        if b"\r" not in content:
            *lines, _ = content.split(b"\n")
            # The sum of line lengths and line ends, without a Python loop.
            starts = list(map(add, accumulate(map(len, lines), initial=0), count()))
            starts[0] = first
            return starts
        return [first, *(end.end() for end in _LINE_END.finditer(content))]

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return the byte range of a node, without the parentheses around it."""
        located = node
        if not isinstance(located, (ast.expr, ast.stmt, ast.arg, ast.keyword, ast.alias)):
            raise TypeError(f"{type(node).__name__} has no place in the text")
        assert located.end_lineno is not None and located.end_col_offset is not None
        starts = self._line_starts
        return (
            starts[located.lineno - 1] + located.col_offset,
            starts[located.end_lineno - 1] + located.end_col_offset,
        )

    def indentation(self, node: ast.stmt) -> str | None:
        """Return the whitespace before a statement, or None if the line starts with something else."""
        start = self.span(node)[0]
        before = self.source.content[self._line_starts[node.lineno - 1] : start]
        return None if before.strip() else before.decode()

    def unit_of_indentation(self, node: ast.stmt) -> str:
        """Return the extra indentation of a statement relative to its parent, or four spaces without a parent."""
        above = self.parents[node]
        outer = self.indentation(above) if isinstance(above, ast.stmt) else None
        return (self.indentation(node) or "").removeprefix(outer or "") or "    "

    def text(self, node: ast.AST) -> bytes:
        start, end = self.span(node)
        return self.source.content[start:end]

    def grouped_span(self, node: ast.expr) -> tuple[int, int]:
        """Return the byte range of an expression with all parentheses that only group it."""
        start, end = self.span(node)
        while True:
            wider = self._one_group_wider(start, end)
            if wider is None:
                return start, end
            start, end = wider

    def _one_group_wider(self, start: int, end: int) -> tuple[int, int] | None:
        content = self.source.content
        left, right = start - 1, end
        while left >= 0 and content[left] in _BLANK:
            left -= 1
        while right < len(content) and content[right] in _BLANK:
            right += 1
        if left < 0 or content[left : left + 1] != b"(" or content[right : right + 1] != b")":
            return None
        before = content[max(0, left - 80) : left].rstrip(b" \t")
        word = _KEYWORD_BEFORE.search(before)
        if word and word.group(1) not in _BEFORE_GROUP:
            return None
        if not word and before[-1:] in (b")", b"]", b"}", b'"', b"'"):
            return None
        return left, right + 1


@dataclass(eq=False)
class Place:
    """Position of a node: its function and its ancestors."""

    module: Module
    node: ast.AST
    function: FunctionDefinition | None
    """Innermost function whose *body* contains the node. Its decorators and defaults are outside."""
    of_expression: list[ast.AST]
    """Ancestors within the innermost statement, innermost first."""

    @lazily
    def ancestors(self) -> list[ast.AST]:
        """Return its ancestors in the tree, innermost first."""
        found: list[ast.AST] = []
        above = self.module.parents.get(self.node)
        while above is not None:
            found.append(above)
            above = self.module.parents.get(above)
        return found

    @lazily
    def in_format_string(self) -> bool:
        """Return whether it is inside an f-string, where positions are unreliable before Python 3.12."""
        return any(isinstance(one, ast.JoinedStr) for one in (self.node, *self.of_expression))

    @lazily
    def span(self) -> tuple[int, int]:
        """Return its byte range, without the parentheses around it."""
        return self.module.span(self.node)

    @lazily
    def text(self) -> str:
        return self.module.text(self.node).decode()

    @lazily
    def indentation(self) -> str | None:
        """Return the whitespace before a statement, or None if the line starts with something else."""
        assert isinstance(self.node, ast.stmt)
        return self.module.indentation(self.node)


@lru_cache(maxsize=8)
def parse(source: SourceFile) -> Module:
    """Return the parsed file. Rules that read the same file share one tree."""
    return Module(source)
