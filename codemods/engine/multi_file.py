"""Changes of several files, whose parts are applied together or not at all."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from ..model.outcome import Changed, Outcome, Unchanged
from ..model.rule import Fix, Skip


def drop_partial_changes(
    outcomes: Sequence[Outcome], turn_down: Callable[[Changed, Sequence[Fix]], Changed | Unchanged]
) -> list[Outcome]:
    """Return the outcomes without the parts of changes that are applied only partially.

    ``turn_down`` removes fixes from an outcome.
    """
    found = list(outcomes)
    while True:
        there = {
            (fix.rule, fix.function, str(outcome.source.path.absolute()))
            for outcome in found
            if isinstance(outcome, Changed)
            for fix in outcome.applied
            if fix.files
        }
        lonely = {
            number: [fix for fix in outcome.applied if not _whole(fix, there)]
            for number, outcome in enumerate(found)
            if isinstance(outcome, Changed)
        }
        if not any(lonely.values()):
            return found
        for number, fixes in lonely.items():
            outcome = found[number]
            if fixes and isinstance(outcome, Changed):
                found[number] = _said(turn_down(outcome, fixes), fixes)


def _said(outcome: Changed | Unchanged, fixes: Sequence[Fix]) -> Changed | Unchanged:
    """Return the outcome with a skip for each removed part, which lacks only its other parts."""
    gone = {(fix.rule, fix.function) for fix in fixes}
    offered = tuple(fix for fix in outcome.offered if (fix.rule, fix.function) not in gone)
    skips = tuple(
        Skip(
            fix.rule, fix.mode, fix.start, fix.start, "in-several-files", _rest(fix, outcome.source.path), fix.function
        )
        for fix in fixes
    )
    return replace(outcome, offered=offered, skips=(*outcome.skips, *skips))


def _rest(fix: Fix, path: Path) -> str:
    return f"{fix.function}: parts of this change stand in {', '.join(fix.beside(path))}: name these files too"


def _whole(fix: Fix, there: set[tuple[str, str | None, str]]) -> bool:
    return all((fix.rule, fix.function, file) in there for file in fix.files)


def units(fixes: Iterable[tuple[int, Fix]]) -> list[list[tuple[int, Fix]]]:
    """Group the fixes of several outcomes, each with its outcome's number, by change."""
    found: dict[Hashable, list[tuple[int, Fix]]] = {}
    for position, (number, fix) in enumerate(fixes):
        key = (fix.rule, fix.function, fix.files) if fix.files else position
        found.setdefault(key, []).append((number, fix))
    return list(found.values())
