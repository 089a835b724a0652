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
_CHILDLESS = frozenset({ast.Name, ast.Constant, ast.alias, ast.Pass, ast.Break, ast.Continue, ast.Global, ast.Nonlocal})
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
    """Nodes in source order, outer before inner, found by their kind."""

    def __init__(self) -> None:
        self.all: list[ast.AST] = []

    def every(self, *kinds: type[Node]) -> list[Node]:
        """The nodes of these kinds; an abstract kind such as ``ast.stmt`` stands for those derived from it."""
        places = [self._places[kind] for kind in self._places if issubclass(kind, kinds)]
        order = places[0] if len(places) == 1 else sorted(place for some in places for place in some)
        return cast("list[Node]", [self.all[place] for place in order])

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
        parents, found, around = self.parents, self.nodes.all, self.outside.all
        last_first: dict[type[object], tuple[str, ...]] = dict.fromkeys(_CHILDLESS, ())
        # Beside nodes the stack holds the list of the body that begins there, and a None where that body ends.
        stack: list[ast.AST | list[ast.AST] | None] = [tree]
        homes: list[list[ast.AST]] = []
        while stack:
            node = stack.pop()
            if node is None:
                around = homes.pop()
                continue
            if isinstance(node, list):
                homes.append(around)
                around = node
                continue
            found.append(node)
            around.append(node)
            kind = type(node)
            if kind not in last_first:
                last_first[kind] = tuple(name for name in reversed(kind._fields) if name not in _NO_PLACE)
            for name in last_first[kind]:
                value = getattr(node, name, None)
                if isinstance(value, ast.AST):
                    parents[value] = node
                    stack.append(value)
                elif isinstance(value, list):
                    home = name == "body" and kind in _SCOPES
                    if home:
                        stack.append(None)
                    for child in reversed(value):
                        if isinstance(child, ast.AST):
                            parents[child] = node
                            stack.append(child)
                    if home:
                        body = self.inside[node] = Nodes()
                        stack.append(body.all)
