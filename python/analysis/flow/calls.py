"""Call graph of a file's functions, and the functions that a size can reach."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import takewhile

from ...syntax.module import Module
from ...syntax.tree import FunctionDefinition

# Sources of sizes in a function's own text: an attribute, a call, an annotation. A user's scalar counts if it is
# compared with a float.
_SOURCE = re.compile(
    rb"\.shape\b|\.(?:size|stride|item|tolist)\(|numel|nelement|storage_offset|sym_|Sym(?:Int|Float|Bool)|IntLike"
    rb"|Dim\b|Size|Shape|Stride|_(?:shapes?|size)\(|== *-?\d*\."
)


class Calls:
    """The calls in a file to functions that the same file defines."""

    def __init__(self, module: Module) -> None:
        self._plain: dict[str, list[FunctionDefinition]] = defaultdict(list)
        self._owned: dict[str, list[FunctionDefinition]] = defaultdict(list)
        for function in module.functions:
            (self._owned if function.owner else self._plain)[function.node.name].append(function)
        sources = _with_sources(module)
        self.inside: dict[FunctionDefinition, list[tuple[ast.Call, list[FunctionDefinition]]]] = {
            function: [(call, callees) for call in function.nodes.calls if (callees := self.callees(call.func))]
            for function in (module.functions if sources else ())
        }
        """Calls in the body of each function, with the functions they may call. Empty if no function contains a source
        of sizes."""
        self.reached = self._reached(module, sources)
        """Functions that contain a source of sizes, and all functions connected to them by calls or nesting.

        Each is mapped to its connected functions, in the order of the file. No value in any other function matters.
        """

    def callees(self, func: ast.expr) -> list[FunctionDefinition]:
        """Return the functions of the file that a call of ``func`` may call."""
        if isinstance(func, ast.Name):
            return self._plain.get(func.id, [])
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
            owned, receiver = self._owned.get(func.attr, []), func.value.id
            return owned if receiver in ("self", "cls") else [one for one in owned if one.owner == receiver]
        return []

    def _reached(
        self, module: Module, sources: Sequence[FunctionDefinition]
    ) -> dict[FunctionDefinition, list[FunctionDefinition]]:
        beside: dict[FunctionDefinition, set[FunctionDefinition]] = {function: set() for function in module.functions}
        for function, called in self.inside.items():
            outer = [function.outer] if function.outer else []
            for other in (*(one for _, callees in called for one in callees), *outer):
                beside[function].add(other)
                beside[other].add(function)
        order = {function: number for number, function in enumerate(module.functions)}
        found: dict[FunctionDefinition, list[FunctionDefinition]] = {}
        for source in sources:
            if source in found:
                continue
            together, pending = {source}, [source]
            while pending:
                fresh = beside[pending.pop()] - together
                together |= fresh
                pending += fresh
            found.update(dict.fromkeys(together, sorted(together, key=order.__getitem__)))
        return found


@lru_cache(maxsize=8)
def calls_in(module: Module) -> Calls:
    """Return the calls of a file, computed once."""
    return Calls(module)


def _with_sources(module: Module) -> list[FunctionDefinition]:
    """Return the functions whose text contains a source of sizes, in the order of the file."""
    content, found = module.source.content, set[FunctionDefinition]()
    for function in module.functions:  # outer before inner: a function inside one without a source has none either
        if (function.outer is None or function.outer in found) and _SOURCE.search(content, *module.span(function.node)):
            found.add(function)
    return [function for function in module.functions if function in found]


def sizes_reach(call: ast.Call, callee: FunctionDefinition) -> Iterator[tuple[str, ast.expr]]:
    """Yield the arguments of a call, each with the parameter of ``callee`` that receives it."""
    spec = callee.node.args
    places = [*spec.posonlyargs, *spec.args]
    if callee.owner and places and places[0].arg in ("self", "cls"):
        places = places[1:]
    plain = takewhile(lambda one: not isinstance(one, ast.Starred), call.args)
    yield from ((place.arg, argument) for place, argument in zip(places, plain, strict=False))
    yield from ((keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg)
