"""Integer arguments of a tree's operators that are sizes, each with what says so."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ...codemods.engine.edits import apply
from ...codemods.engine.rule import Context
from ...codemods.engine.source import SourceFile
from ...codemods.torchapi import Kernel
from ...cpp.analysis.graph import Refusal
from ...cpp.analysis.knowledge import knowledge
from ...cpp.analysis.reasons import SkipReason
from ...cpp.analysis.registrations import FAKE_KEYS
from ...cpp.analysis.widening import evidence, evidences
from ...cpp.syntax.declarations import Function
from ..syntax.entries import Entry
from .families import family_of, together
from .metas import sizes_in_metas
from .native import NativeTree
from .sources import defining, texts

_NO_SIZE = frozenset(
    {
        SkipReason.ARRAY_INDEX,
        SkipReason.CONTAINER_SIZE,
        SkipReason.DECIDES_ARITY,
        SkipReason.LOOP_BOUND,
        SkipReason.SWITCH,
        SkipReason.TEMPLATE_ARGUMENT,
    }
)
"""What is done with dimensions, numbers of outputs, trip counts and enums."""


@dataclass(frozen=True)
class Finding:
    """What says that an argument is a size (``reasons``), and what says that it is something else (``against``)."""

    reasons: tuple[str, ...]
    against: tuple[str, ...]


Found = Mapping[tuple[str, str], Finding]
"""Findings by the operator with its overload and the argument."""


def sizes(tree: NativeTree) -> Found:
    """The integer arguments that are sizes.

    What is found makes sizes of what other operators hand on to it: it is looked for again until nothing is new.
    """
    widened: dict[str, tuple[str, ...]] = {}
    while True:
        edits = [edit for name, names in widened.items() for edit in tree.entries[name].widened(names)]
        found = _found(tree, tree.context(apply(tree.functions, edits)))
        certain: dict[str, set[str]] = defaultdict(set)
        for (name, argument), one in found.items():
            if not one.against:
                certain[name].add(argument)
        more = together(tree.entries, certain)
        if more == widened:
            return found
        widened = more


def _found(tree: NativeTree, context: Context) -> Found:
    """What the kernels, the metas and the siblings of operators say of their integer arguments."""
    entries = tree.entries
    found: dict[tuple[str, str], tuple[list[str], list[Refusal]]] = defaultdict(lambda: ([], []))
    metas = sizes_in_metas(tree.root)
    siblings = _symbolic(entries)
    asked: dict[Path, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for name in entries:
        entry = entries[name]
        for argument in _integers(entry):
            reasons = found[name, argument][0]
            said = metas.get((name, argument)) or metas.get((entry.schema.name, argument))
            reasons += [said] if said else []
            sibling = siblings.get((family_of(name), argument))
            reasons += [f"it is a SymInt in {sibling}"] if sibling else []
    for name in entries:
        for kernel in _kernels(entries[name], context):
            for path in defining(tree.root, kernel.name):
                asked[path][kernel.name] |= set(_integers(entries[name]))
    bodies = {path: _bodies(tree, path, names, context) for path, names in asked.items()}
    for name in entries:
        for kernel in _kernels(entries[name], context):
            for path in defining(tree.root, kernel.name):
                for (function, argument), (lines, against) in bodies[path].items():
                    if function.name == kernel.name and _agree(function, kernel) and (name, argument) in found:
                        found[name, argument][0].extend(f"{path}: {line}" for line in lines)
                        found[name, argument][1].extend(against)
    return {key: _finding(reasons, against) for key, (reasons, against) in found.items() if reasons}


def _finding(reasons: list[str], against: list[Refusal]) -> Finding:
    words = dict.fromkeys(" ".join(refusal.detail.split()) for refusal in against if refusal.reason in _NO_SIZE)
    return Finding(tuple(dict.fromkeys(reasons)), tuple(words))


def _integers(entry: Entry) -> list[str]:
    if any(one.type.startswith("Dimname") for one in entry.schema.arguments):
        return []
    return [one.name for one in entry.schema.arguments if one.widened is not None]


def _symbolic(entries: Mapping[str, Entry]) -> Mapping[tuple[str, str], str]:
    return {
        (family_of(name), one.name): name
        for name, entry in entries.items()
        for one in entry.schema.arguments
        if one.type.startswith("SymInt")
    }


def _kernels(entry: Entry, context: Context) -> list[Kernel]:
    """The kernels of an operator that run on fake tensors."""
    api = context.api
    operators = {*api.functions(entry.schema.name), *api.methods(entry.schema.name)}
    names = {
        kernel
        for operator in operators
        if operator.overload == entry.schema.overload
        for key, kernel in operator.kernels
        if key in FAKE_KEYS
    }
    return [
        kernel
        for name in sorted(names)
        for kernel in api.kernels(name)
        if kernel.operator.overload == entry.schema.overload and not kernel.structured
    ]


def _bodies(
    tree: NativeTree, path: Path, names: Mapping[str, set[str]], context: Context
) -> dict[tuple[Function, str], tuple[tuple[str, ...], tuple[Refusal, ...]]]:
    know = knowledge(SourceFile(tree.root / path, texts(tree.root)[path]), context)
    asked = {function: tuple(own) for name, own in names.items() for function in know.model.named(name)}
    followed = evidences(know, asked)
    # Followed alone, a parameter answers for itself only.
    alone = {key: evidence(know, *key) for key, one in followed.items() if one.for_size}
    return {key: (one.for_size, one.against) for key, one in alone.items()}


def _agree(function: Function, kernel: Kernel) -> bool:
    return [one.name for one in function.parameters] == [name for _, name in kernel.parameters]
