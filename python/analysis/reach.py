"""Which functions of a file a size can reach; in the others every value is without interest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ..syntax.module import Module
from ..syntax.tree import Function

# What every size comes from at first, in a function's own text: an attribute, a call, an annotation. A scalar of the
# user's counts where it is compared with a float.
_SOURCE = re.compile(
    rb"\.shape\b|\.(?:size|stride|item|tolist)\(|numel|nelement|storage_offset|sym_|Sym(?:Int|Float|Bool)|IntLike"
    rb"|Dim\b|Size|Shape|Stride|_(?:shapes?|size)\(|== *-?\d*\."
)


def reached(module: Module, callees: Mapping[Function, Iterable[Function]]) -> frozenset[Function]:
    """The functions that hold a source of sizes, and all that these call, are called by, stand in or hold."""
    beside: dict[Function, set[Function]] = {function: set() for function in module.functions}
    for function, called in callees.items():
        for other in (*called, *((function.outer,) if function.outer else ())):
            beside[function].add(other)
            beside[other].add(function)
    pending = [one for one in module.functions if _SOURCE.search(module.text(one.node))]
    found = set(pending)
    while pending:
        fresh = beside[pending.pop()] - found
        found |= fresh
        pending += fresh
    return frozenset(found)
