"""One walk over a tree, from which every question about its nodes is answered."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from contextlib import contextmanager

# Fields whose nodes are shared and have no place in the text.
_NO_PLACE = frozenset({"ctx", "op", "ops"})
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


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


class Survey:
    """``nodes`` in source order, what each stands in, nodes by kind, and nodes by the function whose body they are in.

    ``outside`` are the nodes that no function and no class encloses. A nested function or class is a node of the body
    around it, together with its decorators and defaults; its own body is not.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.nodes: list[ast.AST] = []
        self.parents: dict[ast.AST, ast.AST] = {}
        self.by_kind: dict[type[ast.AST], list[ast.AST]] = {}
        self.inside: dict[ast.AST, list[ast.AST]] = {}
        self.outside: list[ast.AST] = []
        with no_collecting():
            self._walk(tree)

    def _walk(self, tree: ast.Module) -> None:
        fields: dict[type[ast.AST], tuple[str, ...]] = {}
        stack: list[tuple[ast.AST, list[ast.AST]]] = [(tree, self.outside)]
        while stack:
            node, around = stack.pop()
            kind = type(node)
            if kind not in fields:
                fields[kind] = tuple(name for name in kind._fields if name not in _NO_PLACE)
                self.by_kind[kind] = []
            self.nodes.append(node)
            self.by_kind[kind].append(node)
            around.append(node)
            children: list[tuple[ast.AST, list[ast.AST]]] = []
            for name in fields[kind]:
                value = getattr(node, name, None)
                if value is None or isinstance(value, (str, int)):
                    continue
                home = self.inside.setdefault(node, []) if name == "body" and isinstance(node, _SCOPES) else around
                for child in value if isinstance(value, list) else (value,):
                    if isinstance(child, ast.AST):
                        self.parents[child] = node
                        children.append((child, home))
            stack.extend(reversed(children))
