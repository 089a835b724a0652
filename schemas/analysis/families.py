"""Operators that have to agree on the type of an argument: overloads, in-place and copying forms of one operator."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ..syntax.entries import Entry

_COPIES = "_copy"


def together(entries: Mapping[str, Entry], asked: Mapping[str, Collection[str]]) -> dict[str, tuple[str, ...]]:
    """The arguments that take SymInts with those asked for, by the names of their operators, in the file's order.

    To ``f`` belong its overloads, ``f_`` and ``f_copy``, as far as an argument of the name is an ``int`` there. Those
    that name dimensions are left, unless they were asked for: nothing traces them.
    """
    wanted: dict[str, set[str]] = {}
    for name, arguments in asked.items():
        wanted.setdefault(family_of(name), set()).update(arguments)
    found: dict[str, tuple[str, ...]] = {}
    for name, entry in entries.items():
        by_name = any(one.type.startswith("Dimname") for one in entry.schema.arguments)
        names = asked.get(name, ()) if by_name else wanted.get(family_of(name), ())
        own = tuple(one.name for one in entry.schema.arguments if one.name in names and one.widened is not None)
        if own:
            found[name] = own
    return found


def family_of(name: str) -> str:
    """The name that the operators of one family share."""
    stem = name.partition(".")[0]
    if not stem.endswith("__"):
        stem = stem.removesuffix("_")
    return stem.removesuffix(_COPIES)
