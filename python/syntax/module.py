"""One Python file, parsed once: its tree, the byte range of every node, its functions and what its names mean.

The tree is ``ast``'s. Its positions are byte offsets, so that an edit replaces exactly the bytes of an expression.
"""

from __future__ import annotations

import ast
import builtins
import re
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from ...codemods.engine.source import SourceFile
from .scopes import FunctionNode, Scopes
from .survey import Nodes, Survey, no_collecting

Definition = FunctionNode | ast.ClassDef

GROWING = frozenset({"append", "insert", "extend"})
_BINDERS = (ast.Assign, ast.NamedExpr, ast.AnnAssign, ast.AugAssign, ast.For, ast.AsyncFor)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_NAMED_CAPTURES = (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

_BLANK = frozenset(b" \t\r\n\f")
_LINE_END = re.compile(rb"\r\n|\r|\n")
_BEFORE_GROUP = frozenset(
    {b"if", b"elif", b"while", b"not", b"and", b"or", b"return", b"in", b"is", b"else", b"assert"}
)
_KEYWORD_BEFORE = re.compile(rb"([A-Za-z_][A-Za-z0-9_]*)\s*$")


@dataclass(eq=False)
class Function:
    """A function definition and where it stands; ``outer`` is the function it is nested in."""

    node: FunctionNode
    qualname: str
    outer: Function | None
    owner: str | None = None
    """Name of the class whose body the function stands in."""
    nodes: Nodes = field(default_factory=Nodes)
    """Every node of the body, without the bodies of nested functions and classes."""

    @cached_property
    def binders(self) -> list[ast.AST]:
        """The nodes by which names get their values, and lists grow."""
        return [
            node
            for node in self.nodes.every(*_BINDERS, ast.Call)
            if not isinstance(node, ast.Call) or (isinstance(node.func, ast.Attribute) and node.func.attr in GROWING)
        ]

    @cached_property
    def assigned_once(self) -> dict[str, ast.expr]:
        """What the names hold that one assignment binds and nothing else does."""
        stores = Counter(self.nodes.stored)
        return {
            target.id: statement.value
            for statement in self.nodes.every(ast.Assign)
            for target in statement.targets
            if isinstance(target, ast.Name) and stores[target.id] == 1
        }

    @property
    def outermost(self) -> Function:
        return self.outer.outermost if self.outer else self

    @property
    def arguments(self) -> list[ast.arg]:
        spec = self.node.args
        named = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs]
        return named + [extra for extra in (spec.vararg, spec.kwarg) if extra]

    @cached_property
    def bound(self) -> frozenset[str]:
        """Names the function binds by other means than an import: parameters, assignments, loops, definitions."""
        return _bound(self.nodes).union(argument.arg for argument in self.arguments)

    @cached_property
    def named(self) -> frozenset[str]:
        """Names that a definition, an ``except … as`` or a capture of ``match`` binds."""
        return _named(self.nodes)

    @cached_property
    def imports(self) -> dict[str, str]:
        return imported_names(self.nodes.every(ast.Import, ast.ImportFrom))


def _bound(nodes: Nodes) -> frozenset[str]:
    return _named(nodes).union(nodes.stored)


def _named(nodes: Nodes) -> frozenset[str]:
    """What definitions, ``except … as`` and captures of ``match`` name."""
    definitions: tuple[Definition, ...] = nodes.every(*_DEFINITIONS)
    captures: tuple[ast.ExceptHandler | ast.MatchAs | ast.MatchStar, ...] = nodes.every(*_NAMED_CAPTURES)
    captured = [*(node.name for node in captures), *(node.rest for node in nodes.every(ast.MatchMapping))]
    return frozenset([*(node.name for node in definitions), *(name for name in captured if name)])


def imported_names(nodes: Sequence[ast.AST]) -> dict[str, str]:
    """Local name → dotted name of what it was imported from; a relative import keeps its leading dots.

    A name that two imports give different meanings is left out.
    """
    names: dict[str, str] = {}
    twice: set[str] = set()
    for node in nodes:
        for alias in node.names if isinstance(node, (ast.Import, ast.ImportFrom)) else ():
            if isinstance(node, ast.ImportFrom):
                local, meaning = alias.asname or alias.name, f"{'.' * node.level}{node.module or ''}.{alias.name}"
            else:
                head = alias.name.split(".")[0]
                local, meaning = alias.asname or head, alias.name if alias.asname else head
            if names.setdefault(local, meaning) != meaning:
                twice.add(local)
    return {local: meaning for local, meaning in names.items() if local not in twice}


@dataclass(eq=False)
class Module:
    """A parsed source file. Raises SyntaxError or ValueError when it does not parse."""

    source: SourceFile
    tree: ast.Module = field(init=False)

    def __post_init__(self) -> None:
        self.tree = syntax_tree(self.source.content)

    @cached_property
    def _line_starts(self) -> list[int]:
        content = self.source.content
        first = 3 if content.startswith(b"\xef\xbb\xbf") else 0
        return [first, *(end.end() for end in _LINE_END.finditer(content))]

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        return self._survey.parents

    @cached_property
    def nodes(self) -> Nodes:
        """Every node of the file."""
        return self._survey.nodes

    @cached_property
    def _survey(self) -> Survey:
        return Survey(self.tree)

    @cached_property
    def functions(self) -> list[Function]:
        """Every function of the file, outer before inner."""
        found: dict[ast.AST, Function] = {}
        nodes: tuple[FunctionNode, ...] = self.nodes.every(ast.FunctionDef, ast.AsyncFunctionDef)
        for node in nodes:
            around = [above for above in self.ancestors(node) if isinstance(above, _DEFINITIONS)]
            outer = next((found[above] for above in around if above in found), None)
            owner = around[0].name if around and isinstance(around[0], ast.ClassDef) else None
            qualname = ".".join([*(above.name for above in reversed(around)), node.name])
            found[node] = Function(node, qualname, outer, owner, self._survey.inside[node])
        return list(found.values())

    @cached_property
    def _function_by_statement(self) -> dict[ast.AST, Function]:
        return {statement: function for function in self.functions for statement in function.node.body}

    def function_of(self, node: ast.AST) -> Function | None:
        """The innermost function whose *body* the node stands in (a decorator or default stands outside)."""
        at: ast.AST | None = node
        while at is not None and at not in self._function_by_statement:
            at = self.parents.get(at)
        return None if at is None else self._function_by_statement[at]

    def comprehensions_around(self, node: ast.AST) -> list[ast.AST]:
        """The comprehensions that a node stands in, innermost first."""
        found: list[ast.AST] = []
        above = self.parents.get(node)
        while above is not None and not isinstance(above, ast.stmt):
            if isinstance(above, _COMPREHENSIONS):
                found.append(above)
            above = self.parents.get(above)
        return found

    @cached_property
    def imports(self) -> dict[str, str]:
        """What the names imported outside functions mean."""
        return imported_names(self._survey.outside.every(ast.Import, ast.ImportFrom))

    @cached_property
    def assigned_at_top(self) -> dict[str, ast.expr]:
        """What the names of the module hold that one assignment at the top binds and nothing else does."""
        found = {
            target.id: statement.value
            for statement in self.tree.body
            if isinstance(statement, ast.Assign)
            for target in statement.targets
            if isinstance(target, ast.Name) and self._stores_at_top[target.id] == 1
        }
        return {name: value for name, value in found.items() if name not in self.scopes.rebound_globals}

    @cached_property
    def _stores_at_top(self) -> Counter[str]:
        return Counter(self._survey.outside.stored)

    @cached_property
    def defined_at_top(self) -> dict[str, Function]:
        """The functions that one ``def`` at the top binds to their names and nothing else does."""
        names = Counter(one.node.name for one in self.functions if one.outer is None and one.owner is None)
        return {
            one.node.name: one
            for one in self.functions
            if one.outer is None
            and one.owner is None
            and names[one.node.name] == 1
            and not self._stores_at_top[one.node.name]
            and one.node.name not in self.imports
            and one.node.name not in self.scopes.rebound_globals
        }

    @cached_property
    def bound(self) -> frozenset[str]:
        """Names bound at the top by other means than an import."""
        return _bound(self._survey.outside)

    @cached_property
    def scopes(self) -> Scopes:
        return Scopes(self.tree, self.source.content, self.parents)

    def meaning(self, node: ast.expr) -> str | None:
        """The dotted name an expression such as ``np.prod`` or ``guard_or_false`` stands for, imports resolved.

        A builtin is ``builtins.NAME``; something the file itself defines is None, and so is a name that is bound
        twice in different ways.
        """
        if isinstance(node, ast.Attribute):
            value = self.meaning(node.value)
            return f"{value}.{node.attr}" if value else None
        return self.meaning_of_name(node.id, node) if isinstance(node, ast.Name) else None

    def meaning_of_name(self, name: str, place: ast.AST) -> str | None:
        """The dotted name that ``name`` stands for at ``place``, as `meaning` has it."""
        owner = self.scopes.owner(name, place)
        if owner is None:
            return f"builtins.{name}" if hasattr(builtins, name) else None
        if owner is self.tree:
            rebound = name in self.bound or name in self.scopes.rebound_globals
            return None if rebound else self.imports.get(name)
        function = self._function_by_node.get(owner)
        if function is None or name in function.bound or name in self.scopes.rebound_outer:
            return None
        return function.imports.get(name)

    @cached_property
    def _function_by_node(self) -> dict[ast.AST, Function]:
        return {function.node: function for function in self.functions}

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Byte range of a node, without the parentheses around it."""
        located = node
        if not isinstance(located, (ast.expr, ast.stmt, ast.arg, ast.keyword, ast.alias)):
            raise TypeError(f"{type(node).__name__} has no place in the text")
        assert located.end_lineno is not None and located.end_col_offset is not None
        starts = self._line_starts
        return (
            starts[located.lineno - 1] + located.col_offset,
            starts[located.end_lineno - 1] + located.end_col_offset,
        )

    @cached_property
    def own_tree(self) -> bool:
        """The file is a part of PyTorch itself."""
        return "torch" in self.source.path.parts[:-1]

    @cached_property
    def newline(self) -> str:
        """What ends the lines of the file."""
        at = self.source.content.find(b"\n")
        return "\r\n" if at > 0 and self.source.content[at - 1 : at] == b"\r" else "\n"

    def indentation(self, node: ast.stmt) -> str | None:
        """The blanks before a statement, or None when something else stands there."""
        start = self.span(node)[0]
        before = self.source.content[self._line_starts[node.lineno - 1] : start]
        return None if before.strip() else before.decode()

    def text(self, node: ast.AST) -> bytes:
        start, end = self.span(node)
        return self.source.content[start:end]

    def grouped_span(self, node: ast.expr) -> tuple[int, int]:
        """Byte range of an expression with all parentheses that only group it."""
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

    def in_format_string(self, node: ast.AST) -> bool:
        """Positions inside an f-string cannot be trusted before Python 3.12."""
        above: ast.AST | None = node
        while above is not None and not isinstance(above, ast.stmt):
            if isinstance(above, ast.JoinedStr):
                return True
            above = self.parents.get(above)
        return False

    def ancestors(self, node: ast.AST) -> list[ast.AST]:
        """What a node stands in, innermost first."""
        found: list[ast.AST] = []
        above = self.parents.get(node)
        while above is not None:
            found.append(above)
            above = self.parents.get(above)
        return found


def spelled(node: ast.expr) -> str:
    """The text of an expression without its blanks and comments, as ``ast.unparse`` has it."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, (ast.Name, ast.Attribute)):
        return f"{spelled(node.value)}.{node.attr}"
    return ast.unparse(node)


def literal(node: ast.expr) -> int | None:
    """The whole number that an expression spells, with its sign."""
    sign = -1 if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else 1
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return sign * inner.value if isinstance(inner, ast.Constant) and type(inner.value) is int else None


@lru_cache(maxsize=8)
def syntax_tree(content: bytes) -> ast.Module:
    """The tree of a text, parsed once however often it is asked for; nobody may change it."""
    with warnings.catch_warnings(), no_collecting():
        warnings.simplefilter("ignore", SyntaxWarning)
        return ast.parse(content)


@lru_cache(maxsize=8)
def parse(source: SourceFile) -> Module:
    """The parsed file; the rules that look at one file share one tree."""
    return Module(source)
