"""Single walk over the tree of a file: its nodes by kind, their parents, and its functions."""

from __future__ import annotations

import ast
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from operator import attrgetter
from typing import Any, TypeVar, cast

from ...codemods.model.lock_free_property import lazily
from ...codemods.system.gc_pause import collecting_nothing
from ...codemods.system.python_parser import parse_module

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
Definition = FunctionNode | ast.ClassDef
Node = TypeVar("Node", bound=ast.AST)

GROWING = frozenset({"append", "insert", "extend"})
_BINDERS = (ast.Assign, ast.NamedExpr, ast.AnnAssign, ast.AugAssign, ast.For, ast.AsyncFor)
_DIVIDING = (ast.Div, ast.FloorDiv, ast.Mod)
_NAMED_CAPTURES = (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_NAMING = (*DEFINITIONS, *_NAMED_CAPTURES, ast.MatchMapping)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)

# Fields whose nodes are shared and have no position, and fields that contain no nodes.
_NO_PLACE = frozenset({"ctx", "op", "ops"})
_PLAIN = frozenset({"arg", "asname", "attr", "conversion", "is_async", "kind", "level", "module", "type_comment"})
_UNLISTED = frozenset({ast.Name, ast.Constant})


class Nodes:
    """Nodes in source order, outer before inner, indexed by their kind.

    ``stored`` are the names assigned to, once for each assignment. ``deleted`` are those that ``del`` unbinds.

    Names and constants, which are half of any tree and have no children, are omitted. ``ast.walk`` finds them.
    """

    def __init__(self) -> None:
        self.all: list[ast.AST] = []
        self.stored: list[str] = []
        self.deleted: list[str] = []
        self._found: dict[tuple[type[ast.AST], ...], tuple[ast.AST, ...]] = {}

    def every(self, *kinds: type[Node]) -> tuple[Node, ...]:
        """Return the nodes of these kinds. An abstract kind such as ``ast.stmt`` includes those derived from it."""
        found = self._found.get(kinds)
        if found is None:
            assert _UNLISTED.isdisjoint(kinds)
            by_kind, written = self._by_kind, _written(kinds)
            present = [kind for kind in written if kind in by_kind]
            if len(present) < 2:
                found = tuple(by_kind[present[0]]) if present else ()
            else:
                found = tuple([node for node in self.all if type(node) in written])
            self._found[kinds] = found
        return cast("tuple[Node, ...]", found)

    @lazily
    def _by_kind(self) -> dict[type[ast.AST], list[ast.AST]]:
        found: dict[type[ast.AST], list[ast.AST]] = defaultdict(list)
        for node in self.all:
            found[type(node)].append(node)
        return found

    # The most frequent lookups.

    @lazily
    def assigns(self) -> tuple[ast.Assign, ...]:
        return self.every(ast.Assign)

    @lazily
    def asserts(self) -> tuple[ast.Assert, ...]:
        return self.every(ast.Assert)

    @lazily
    def attributes(self) -> tuple[ast.Attribute, ...]:
        return self.every(ast.Attribute)

    @lazily
    def calls(self) -> tuple[ast.Call, ...]:
        return self.every(ast.Call)

    @lazily
    def ifs(self) -> tuple[ast.If, ...]:
        return self.every(ast.If)

    @lazily
    def imports(self) -> tuple[ast.Import | ast.ImportFrom, ...]:
        return self.every(ast.Import, ast.ImportFrom)

    @lazily
    def returns(self) -> tuple[ast.Return, ...]:
        return self.every(ast.Return)

    @lazily
    def bound(self) -> frozenset[str]:
        """Return the names that are bound by other means than an import."""
        return self.named.union(self.stored)

    @lazily
    def own(self) -> frozenset[str]:
        """Return the names bound in the own scope, declared or not, without those of comprehensions and lambdas."""
        inner = [one for generator in self.every(ast.comprehension) for one in stored_in(generator.target)]
        walruses = self.every(ast.NamedExpr)
        if walruses:
            lambdas = {one for scope in self.every(ast.Lambda) for one in ast.walk(scope.body)}
            inner += [one.target.id for one in walruses if one in lambdas]
        stored_here: Iterable[str] = self.stored
        if inner:
            kept, stored = Counter(inner), Counter(self.stored)
            stored_here = [name for name, count in stored.items() if count > kept[name]]
        return self.named.union(stored_here, self.deleted, *map(bound_by_import, self.imports))

    @lazily
    def named(self) -> frozenset[str]:
        """Return the names that a definition, an ``except … as`` or a capture of ``match`` binds."""
        if self._by_kind.keys().isdisjoint(_NAMING):
            return frozenset()
        definitions: tuple[Definition, ...] = self.every(*DEFINITIONS)
        captures: tuple[ast.ExceptHandler | ast.MatchAs | ast.MatchStar, ...] = self.every(*_NAMED_CAPTURES)
        captured = [*(node.name for node in captures), *(node.rest for node in self.every(ast.MatchMapping))]
        return frozenset([*(node.name for node in definitions), *(name for name in captured if name)])


@cache
def _written(kinds: tuple[type[ast.AST], ...]) -> frozenset[type[ast.AST]]:
    """Return the concrete node kinds of ``kinds``, some of which may be abstract."""
    return frozenset(kind for kind in vars(ast).values() if isinstance(kind, type) and issubclass(kind, kinds))


@dataclass(eq=False)
class FunctionDefinition:
    """A function definition and its position. ``outer`` is the function it is nested in."""

    node: FunctionNode
    qualname: str
    outer: FunctionDefinition | None
    around: tuple[Definition, ...]
    """Functions and classes that contain the function, innermost first."""
    nodes: Nodes
    """All nodes of the body, except the bodies of nested functions and classes."""

    @lazily
    def binders(self) -> list[ast.AST]:
        """Return the nodes that bind names or append to lists."""
        return [
            node
            for node in self.nodes.every(*_BINDERS, ast.Call)
            if not isinstance(node, ast.Call) or (isinstance(node.func, ast.Attribute) and node.func.attr in GROWING)
        ]

    @lazily
    def assigned_once(self) -> dict[str, ast.expr]:
        """Return the values of names that only one assignment binds."""
        stores = Counter(self.nodes.stored)
        return {
            target.id: statement.value
            for statement in self.nodes.assigns
            for target in statement.targets
            if isinstance(target, ast.Name) and stores[target.id] == 1
        }

    @lazily
    def owner(self) -> str | None:
        """Return the name of the class whose body contains the function."""
        return self.around[0].name if self.around and isinstance(self.around[0], ast.ClassDef) else None

    @lazily
    def divisors(self) -> list[ast.expr]:
        """Return the divisors in the function."""
        inside = [one.right for one in self.nodes.every(ast.BinOp) if isinstance(one.op, _DIVIDING)]
        return inside + [one.value for one in self.nodes.every(ast.AugAssign) if isinstance(one.op, _DIVIDING)]

    @property
    def outermost(self) -> FunctionDefinition:
        return self.outer.outermost if self.outer else self  # not cached: a self-reference would keep it in memory

    @lazily
    def arguments(self) -> list[ast.arg]:
        spec = self.node.args
        named = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs]
        return named + [extra for extra in (spec.vararg, spec.kwarg) if extra]

    @lazily
    def bound(self) -> frozenset[str]:
        """Return the names bound by other means than an import: parameters, assignments, loops, definitions."""
        return self.nodes.bound.union(argument.arg for argument in self.arguments)

    @lazily
    def bound_by_with(self) -> frozenset[str]:
        statements: tuple[ast.With | ast.AsyncWith, ...] = self.nodes.every(ast.With, ast.AsyncWith)
        targets = [item.optional_vars for statement in statements for item in statement.items if item.optional_vars]
        return frozenset(one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name))

    @lazily
    def imports(self) -> dict[str, str]:
        return imported_names(self.nodes.imports)


class Survey:
    """All ``nodes`` of a tree, their parents, and nodes by the function or class whose body contains them.

    ``outside`` are the nodes that no function and no class encloses. A nested function or class is a node of the body
    around it, together with its decorators and defaults. Its own body is not. Stored and deleted names are recorded in
    the bodies, not in ``nodes``.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.nodes = Nodes()
        self.parents: dict[ast.AST, ast.AST] = {}
        self.inside: dict[ast.AST, Nodes] = {}
        self.outside = Nodes()
        with collecting_nothing():
            self._walk(tree)

    @lazily
    def functions(self) -> list[FunctionDefinition]:
        """Return every function of the file, outer before inner."""
        found: dict[ast.AST, FunctionDefinition] = {}
        nodes: tuple[FunctionNode, ...] = self.nodes.every(ast.FunctionDef, ast.AsyncFunctionDef)
        for node in nodes:
            around = tuple(self._around(node))
            outer = next((found[above] for above in around if above in found), None)
            qualname = ".".join([*(above.name for above in reversed(around)), node.name])
            found[node] = FunctionDefinition(node, qualname, outer, around, self.inside[node])
        return list(found.values())

    @lazily
    def bound_within(self) -> frozenset[str]:
        """Return the names that anything but an import at the top of the file binds, in any scope."""
        at_top = set(self.outside.imports)
        definitions: tuple[Definition, ...] = self.nodes.every(*DEFINITIONS)
        bodies = [self.outside, *self.inside.values()]
        return self.nodes.named.union(
            *(body.stored for body in bodies),
            *(body.deleted for body in bodies),
            (one.arg for one in self.nodes.every(ast.arg)),
            (one.name for node in definitions for one in getattr(node, "type_params", ())),
            *(bound_by_import(statement) for statement in self.nodes.imports if statement not in at_top),
        )

    def _around(self, node: ast.AST) -> Iterator[Definition]:
        above = self.parents.get(node)
        while above is not None:
            if isinstance(above, DEFINITIONS):
                yield above
            above = self.parents.get(above)

    def _walk(self, tree: ast.Module) -> None:
        # Compare types, because ``isinstance`` is slow if the result is False.
        name, constant, load, store, node_kind = ast.Name, ast.Constant, ast.Load, ast.Store, ast.AST
        parents, found, around = self.parents, self.nodes.all, self.outside
        here, readers = around.all, _READERS
        # Besides nodes, the stack contains each body where it begins, and a None where it ends.
        stack: list[Any] = [tree]
        homes: list[Nodes] = []
        pop, push = stack.pop, stack.append
        while stack:
            node = pop()
            kind = type(node)
            if node is None:
                around = homes.pop()
                here = around.all
                continue
            if kind is Nodes:
                homes.append(around)
                around = node
                here = around.all
                continue
            found.append(node)
            here.append(node)
            reader = readers.get(kind)
            if reader is None:
                reader = readers[kind] = _reader(kind)
            body = node.body if kind in _DEFINING else None
            several, get = reader
            for value in get(node) if several else (get(node),):
                if value is None:
                    continue
                if value is body:
                    push(None)
                for child in value[::-1] if type(value) is list else (value,):
                    sort = type(child)
                    if sort is name:
                        parents[child] = node
                        context = type(child.ctx)
                        if context is not load:
                            (around.stored if context is store else around.deleted).append(child.id)
                    elif sort is constant:
                        parents[child] = node
                    elif isinstance(child, node_kind):
                        parents[child] = node
                        push(child)
                if value is body:
                    push(self.inside.setdefault(node, Nodes()))


_DEFINING = frozenset(DEFINITIONS)
_READERS: dict[type[ast.AST], tuple[bool, Callable[[ast.AST], Any]]] = {}
"""Getters of the fields that may contain nodes, in reverse order, by node type. The flag is True if a getter returns a
tuple."""


def _reader(kind: type[ast.AST]) -> tuple[bool, Callable[[ast.AST], Any]]:
    names = [name for name in reversed(kind._fields) if name not in _NO_PLACE | _PLAIN]
    return (len(names) > 1, attrgetter(*names)) if names else (True, lambda node: ())


def bound_by_import(statement: ast.Import | ast.ImportFrom) -> set[str]:
    """Return the names that an import binds, without those of ``*``."""
    return {alias.asname or alias.name.split(".")[0] for alias in statement.names} - {"*"}


def imported_names(nodes: Sequence[ast.AST]) -> dict[str, str]:
    """Return a map from local names to the dotted names of imports. A relative import keeps its leading dots.

    A name that two imports give different meanings is omitted.
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


def stored_in(*targets: ast.expr) -> Iterator[str]:
    """Yield the names that assigning to ``targets`` binds."""
    for target in targets:
        if isinstance(target, ast.Name):
            yield target.id
        elif isinstance(target, ast.Starred):
            yield from stored_in(target.value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            yield from stored_in(*target.elts)


def spelled(node: ast.expr) -> str:
    """Return the text of an expression without its whitespace and comments, as ``ast.unparse`` formats it."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, (ast.Name, ast.Attribute)):
        return f"{spelled(node.value)}.{node.attr}"
    return ast.unparse(node)


def last_word(node: ast.expr) -> str:
    """Return ``ceil`` for ``math.ceil`` and for ``ceil``, or an empty string if an expression has no name."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def literal(node: ast.expr) -> int | None:
    """Return the value of an integer literal, with its sign, or None for anything else."""
    sign = -1 if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else 1
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return sign * inner.value if isinstance(inner, ast.Constant) and type(inner.value) is int else None


@lru_cache(maxsize=8)
def syntax_tree(content: bytes) -> ast.Module:
    """Return the tree of a text, parsed once and cached. Callers must not modify it."""
    with warnings.catch_warnings(), collecting_nothing():
        warnings.simplefilter("ignore", SyntaxWarning)
        return parse_module(content)
