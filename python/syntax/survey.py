"""One walk over a tree, from which every question about its nodes is answered."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TypeVar, cast

Node = TypeVar("Node", bound=ast.AST)

# Fields whose nodes are shared and have no place in the text.
_NO_PLACE = frozenset({"ctx", "op", "ops"})
_UNLISTED = frozenset({ast.Name, ast.Constant})
_SCOPES = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef})


@contextmanager
def no_collecting() -> Iterator[None]:
    """Keep the garbage collector from walking a tree again and again while it grows: a quarter of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class Nodes:
    """Nodes in source order, outer before inner, found by their kind; ``stored`` are the names assigned to.

    Names and constants, which are half of any tree and have nothing below them, are left out: whoever wants them
    walks.
    """

    def __init__(self) -> None:
        self.all: list[ast.AST] = []
        self.stored: list[str] = []
        self._found: dict[tuple[type[ast.AST], ...], tuple[ast.AST, ...]] = {}

    def every(self, *kinds: type[Node]) -> tuple[Node, ...]:
        """The nodes of these kinds; an abstract kind such as ``ast.stmt`` stands for those derived from it."""
        if kinds not in self._found:
            assert _UNLISTED.isdisjoint(kinds)
            places = [self._places[kind] for kind in self._places if issubclass(kind, kinds)]
            order = places[0] if len(places) == 1 else sorted(place for some in places for place in some)
            self._found[kinds] = tuple(self.all[place] for place in order)
        return cast("tuple[Node, ...]", self._found[kinds])

    @cached_property
    def _places(self) -> dict[type[ast.AST], list[int]]:
        places: dict[type[ast.AST], list[int]] = {}
        for place, node in enumerate(self.all):
            kind = type(node)
            if kind in places:
                places[kind].append(place)
            else:
                places[kind] = [place]
        return places


class Survey:
    """All ``nodes`` of a tree, what each stands in, and nodes by the function or class whose body they are in.

    ``outside`` are the nodes that no function and no class encloses. A nested function or class is a node of the body
    around it, together with its decorators and defaults; its own body is not.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.nodes = Nodes()
        self.parents: dict[ast.AST, ast.AST] = {}
        self.inside: dict[ast.AST, Nodes] = {}
        self.outside = Nodes()
        with no_collecting():
            self._walk(tree)

    def _walk(self, tree: ast.Module) -> None:
        parents, found, around = self.parents, self.nodes.all, self.outside
        last_first: dict[type[ast.AST], tuple[str, ...]] = {}
        # Beside nodes the stack holds the body that begins there, and a None where that body ends.
        stack: list[ast.AST | Nodes | None] = [tree]
        homes: list[Nodes] = []
        while stack:
            node = stack.pop()
            if node is None:
                around = homes.pop()
                continue
            if isinstance(node, Nodes):
                homes.append(around)
                around = node
                continue
            found.append(node)
            around.all.append(node)
            kind = type(node)
            if kind not in last_first:
                last_first[kind] = tuple(name for name in reversed(kind._fields) if name not in _NO_PLACE)
            for name in last_first[kind]:
                value = getattr(node, name, None)
                home = name == "body" and kind in _SCOPES
                if home:
                    stack.append(None)
                for child in reversed(value) if isinstance(value, list) else (value,):
                    if not isinstance(child, ast.AST):
                        continue
                    parents[child] = node
                    if isinstance(child, ast.Name):
                        if isinstance(child.ctx, ast.Store):
                            around.stored.append(child.id)
                    elif not isinstance(child, ast.Constant):
                        stack.append(child)
                if home:
                    stack.append(self.inside.setdefault(node, Nodes()))
