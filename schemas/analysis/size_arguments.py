"""Integer arguments of a tree's operators that are sizes, each with its evidence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from ..syntax.entries import Entry
from .argument_flow import Argument, Passed, Passing, passing
from .meta_functions import sizes_in_metas
from .native import NativeTree
from .overload_groups import family_of


@dataclass(frozen=True)
class SizeEvidence:
    """Evidence that an argument is a size (``reasons``), and evidence that it is something else (``against``)."""

    reasons: tuple[str, ...]
    against: tuple[str, ...]


_Step = Callable[[Passed, Collection[Argument], Collection[Argument]], tuple[Argument, str] | None]

Found = Mapping[Argument, SizeEvidence]
"""Findings by the operator with its overload and the argument."""


def sizes(tree: NativeTree) -> Found:
    """Return the integer arguments that are sizes.

    One kind becomes a shape, or is passed to an argument that is a size. The other kind receives sizes. An argument
    that receives sizes from one caller may receive other numbers from others, so nothing is inferred from being passed
    to it.
    """
    entries = tree.entries
    integers = dict.fromkeys((name, one) for name, entry in entries.items() for one in _integers(entry))
    symbolic = {
        (name, one.name)
        for name, entry in entries.items()
        for one in entry.schema.arguments
        if one.type.startswith("SymInt")
    }
    passes = passing(tree, tree.context(tree.functions))
    against = _against(passes, integers)
    reasons: dict[Argument, list[str]] = defaultdict(list)
    for argument, why in _of_metas(tree, integers):
        reasons[argument].append(why)
    known = symbolic | (reasons.keys() - against.keys())
    steps: tuple[_Step, ...] = (_becomes, _given)
    for step in steps:
        while True:
            found = dict(filter(None, (step(one, known, symbolic) for one in passes.passed)))
            new = {argument: why for argument, why in found.items() if argument in integers and argument not in known}
            certain = known | (new.keys() - against.keys())
            new |= {
                argument: f"it is {_what((sibling, argument[1]), symbolic)} in {sibling}"
                for argument, sibling in _siblings(integers, certain)
            }
            for argument, why in new.items():
                reasons[argument].append(why)
            certain |= new.keys() - against.keys()
            if certain == known:
                break
            known = certain
    return {
        argument: SizeEvidence(tuple(dict.fromkeys(reasons[argument])), tuple(dict.fromkeys(against.get(argument, ()))))
        for argument in integers
        if argument in reasons
    }


def _becomes(one: Passed, known: Collection[Argument], symbolic: Collection[Argument]) -> tuple[Argument, str] | None:
    """Return the argument that is passed to a size, with the reason."""
    if one.source is None or one.target not in known:
        return None
    what = _what(one.target, symbolic)
    return one.source, f"it becomes the {one.target[1]} of {one.target[0]}, {what}, {one.where}"


def _what(known: Argument, symbolic: Collection[Argument]) -> str:
    return "a SymInt" if known in symbolic else "a size"


def _given(one: Passed, known: Collection[Argument], _: Collection[Argument]) -> tuple[Argument, str] | None:
    """Return the argument that a size is passed to, with the reason."""
    if one.source is None:
        return one.target, f"it is given a size of a Tensor, {one.where}"
    if one.source in known:
        return one.target, f"it is given the {one.source[1]} of {one.source[0]}, {one.where}"
    return None


def _integers(entry: Entry) -> list[str]:
    if any(one.type.startswith("Dimname") for one in entry.schema.arguments):
        return []
    return [one.name for one in entry.schema.arguments if one.widened is not None]


def _of_metas(tree: NativeTree, integers: Collection[Argument]) -> Iterator[tuple[Argument, str]]:
    metas = sizes_in_metas(tree.root)
    for name, argument in integers:
        said = metas.get((name, argument)) or metas.get((name.partition(".")[0], argument))
        if said:
            yield (name, argument), said


def _siblings(integers: Collection[Argument], known: Collection[Argument]) -> Iterator[tuple[Argument, str]]:
    """Yield each argument whose namesake in another overload, or in the in-place form, is known, with that operator."""
    named = {(family_of(name), argument): name for name, argument in sorted(known)}
    for name, argument in integers:
        sibling = named.get((family_of(name), argument))
        if sibling is not None and (name, argument) not in known:
            yield (name, argument), sibling


def _against(passes: Passing, integers: Collection[Argument]) -> Mapping[Argument, list[str]]:
    """Return the integers that are not sizes, and those that become such, each with the reasons."""
    found: dict[Argument, list[str]] = defaultdict(list)
    for chosen in passes.chosen:
        found[chosen.argument].append(f"it is {chosen.what}, {chosen.where}")
    while True:
        more = {
            one.source: f"it becomes the {one.target[1]} of {one.target[0]}, which is none"
            for one in passes.passed
            if one.source is not None and one.target in integers and one.target in found
        }
        more |= {one: f"it is none in {sibling}" for one, sibling in _siblings(integers, found.keys())}
        new = more.keys() - found.keys()
        if not new:
            return found
        for argument in new:
            found[argument].append(more[argument])
