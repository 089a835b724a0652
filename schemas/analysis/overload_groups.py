"""Families of operators that must agree on the type of an argument: overloads, in-place and copying forms."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ..syntax.entries import Entry

_COPIES = "_copy"


def together(entries: Mapping[str, Entry], asked: Mapping[str, Collection[str]]) -> dict[str, tuple[str, ...]]:
    """Return the arguments that take SymInts together with those requested, by operator, in the file's order.

    The family of ``f`` consists of its overloads, ``f_`` and ``f_copy``, if the argument of the same name is an ``int``
    there. Operators that name dimensions are excluded unless they were requested, since they are never traced.
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
    """Return the name that the operators of one family share."""
    stem = name.partition(".")[0]
    if not stem.endswith("__"):
        stem = stem.removesuffix("_")
    return stem.removesuffix(_COPIES)
