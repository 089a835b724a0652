"""Complete change of a tree: schemas, dispatch tables, kernels, declarations, callers, formulas, or nothing at all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ...codemods.model.edit import Edit, apply
from ...codemods.model.rule import Context, Fix, Safety
from ...codemods.model.source_file import SourceFile
from ...cpp.rewrite.formatter import wrap_long_lines
from ...cpp.rewrite.includes import includes
from ..analysis.native import DERIVATIVES, FUNCTIONS, NativeTree
from ..analysis.overload_groups import family_of, together
from ..analysis.sources import texts
from . import formulas
from .kernels import Followed, follow
from .yaml_edits import Renamed, dispatched, symbolic_kernels


@dataclass(frozen=True)
class Plan:
    """Planned change of a tree.

    ``widened`` are the arguments by operator. ``kernels`` are those that take SymInts after the change. ``kept`` are
    those that stay on integers, with the reason: the dispatcher unpacks SymInts for them, and specializes the size
    there. ``left`` has the reason for each requested operator that stays unchanged.
    """

    edits: Mapping[Path, tuple[Edit, ...]]
    needs: Mapping[Path, frozenset[str]]
    widened: Mapping[str, tuple[str, ...]]
    kernels: tuple[Renamed, ...]
    kept: Mapping[Renamed, str]
    left: Mapping[str, str]
    context: Context
    """Context of torch after the change."""


def plan(tree: NativeTree, asked: Mapping[str, Collection[str]]) -> Plan:
    """Plan SymInts for the arguments, in all operators of their families. Raises TorchError if torchgen refuses."""
    kept: dict[Renamed, str] = {}
    left: dict[str, str] = {}
    while True:
        remaining = {name: names for name, names in asked.items() if family_of(name) not in left}
        widened = together(tree.entries, remaining)
        renamed = [one for one in symbolic_kernels(tree.entries, widened) if one not in kept]
        functions = _functions(tree, widened, renamed)
        context = tree.context(apply(tree.functions, functions))
        followed = follow(tree.root, renamed, context)
        if followed.kept:
            kept |= followed.kept
            continue
        written, helped = formulas.follow(tree.root, tree.formulas, widened, context)
        refused = {family_of(name): one.refused[0] for name, one in written.items() if one.refused}
        if refused:
            left |= refused
            continue
        edits = _merged(followed, helped.edits)
        edits[FUNCTIONS] += functions
        edits[DERIVATIVES] += [edit for one in written.values() for edit in one.edits]
        return Plan(
            {path: tuple(sorted(set(some))) for path, some in edits.items() if some},
            {path: frozenset(headers) for path, headers in followed.needs.items()},
            widened,
            tuple(renamed),
            {one: reason for one, reason in kept.items() if one.operator in widened},
            {name: left[family_of(name)] for name in asked if family_of(name) in left},
            context,
        )


def _functions(tree: NativeTree, widened: Mapping[str, Collection[str]], renamed: Collection[Renamed]) -> list[Edit]:
    entries = tree.entries
    return [
        edit
        for name, names in widened.items()
        for edit in (*entries[name].widened(names), *dispatched(entries[name], renamed))
    ]


def _merged(followed: Followed, more: Mapping[Path, Collection[Edit]]) -> dict[Path, list[Edit]]:
    edits: dict[Path, list[Edit]] = defaultdict(list)
    for one in (followed.edits, more):
        for path, some in one.items():
            edits[path] += some
    return edits


def texts_after(tree: NativeTree, made: Plan) -> dict[Path, tuple[bytes, bytes]]:
    """Return each changed file before and after, by its path in the tree.

    Missing headers are added, and long lines of C++ are wrapped.
    """
    found: dict[Path, tuple[bytes, bytes]] = {}
    for path, edits in sorted(made.edits.items()):
        before = texts(tree.root).get(path)
        if before is None:
            before = (tree.root / path).read_bytes()
        found[path] = before, _after(SourceFile(tree.root / path, before), edits, made, path)
    return found


def _after(source: SourceFile, edits: tuple[Edit, ...], made: Plan, path: Path) -> bytes:
    after = apply(source.content, edits)
    if path.suffix == ".yaml":
        return after
    needs = tuple(sorted(made.needs.get(path, ())))
    fix = Fix("", 4, Safety.SAFE, (), "", needs=needs)
    changed = replace(source, content=after)
    after = apply(after, includes(changed, [fix], made.context))
    return wrap_long_lines(source.path, source.content, after)
