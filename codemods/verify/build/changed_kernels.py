"""Analysis of a changed C++ text: the functions that run changed code, by their bodies and the names in them."""

from __future__ import annotations

from ....cpp.syntax.functions import outline


def functions_reaching(before: bytes, after: bytes) -> frozenset[str] | None:
    """Return the functions of the text after that changed, or that mention one that did, transitively.

    Return None if anything outside function bodies changed (a macro, a constant, a class), since it may affect any
    function.
    """
    old, new = outline(before), outline(after)
    if old.rest != new.rest:
        return None
    mentioned = {name: frozenset[str]().union(*(one.words for one in same)) for name, same in new.definitions.items()}
    names = {*old.definitions, *new.definitions}
    reached = {name for name in names if old.definitions.get(name) != new.definitions.get(name)}
    while True:
        callers = {name for name, words in mentioned.items() if name not in reached and words & reached}
        if not callers:
            return frozenset(reached)
        reached |= callers
