"""``fix --verify``: the fixes that do harm are named and dropped, the others stay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..outcome import Changed, Outcome, Unchanged
from ..registry import Registry, load_language
from ..rounds import some
from ..rule import Fix
from ..run import Surroundings
from ..verify.change import Change, Verification
from ..verify.sifting import Dropped, Prove, sift


@dataclass(frozen=True)
class Kept:
    """``outcomes`` without the harmful fixes, what was dropped in words, and the verification of what stays."""

    outcomes: tuple[Outcome, ...]
    dropped: tuple[str, ...]
    verification: Verification | None


def keep_good(outcomes: Sequence[Outcome], surroundings: Surroundings, prove: Prove) -> Kept:
    """Prove all changes together; if they do harm, find the fixes that do and leave them out."""
    fixes = [
        (number, fix)
        for number, outcome in enumerate(outcomes)
        if isinstance(outcome, Changed)
        for fix in outcome.applied
    ]

    def ask(numbers: Sequence[int]) -> Verification:
        chosen = _with(outcomes, [fixes[number] for number in numbers], surroundings)
        return prove([Change(o.source.path, o.source.content, o.after) for o in chosen.values()])

    sifted = sift(len(fixes), ask)
    if not sifted.dropped:
        return Kept(tuple(outcomes), (), sifted.verification)
    chosen = _with(outcomes, [fixes[number] for number in sifted.kept], surroundings)
    left = tuple(
        chosen.get(number) or Unchanged(outcome.source, outcome.offered, outcome.skips)
        if isinstance(outcome, Changed)
        else outcome
        for number, outcome in enumerate(outcomes)
    )
    return Kept(left, tuple(_named(outcomes, fixes, sifted.dropped)), sifted.verification)


def _with(
    outcomes: Sequence[Outcome], fixes: Sequence[tuple[int, Fix]], surroundings: Surroundings
) -> Mapping[int, Changed]:
    """The outcomes that have any of ``fixes``, with these fixes alone."""
    found = {}
    for number, outcome in enumerate(outcomes):
        wanted = [fix for where, fix in fixes if where == number]
        if not isinstance(outcome, Changed) or not wanted:
            continue
        if len(wanted) == len(outcome.applied):
            found[number] = outcome
            continue
        wing = Registry().wing(outcome.source.path)
        assert wing is not None
        changed = some(outcome.source, wanted, load_language(wing.package), surroundings.context())
        found[number] = replace(changed, offered=outcome.offered, skips=outcome.skips)
    return found


def _named(outcomes: Sequence[Outcome], fixes: Sequence[tuple[int, Fix]], dropped: Sequence[Dropped]) -> Iterator[str]:
    for item in dropped:
        number, fix = fixes[item.number]
        outcome = outcomes[number]
        assert isinstance(outcome, Changed)
        line, column = outcome.source.line_column(fix.start)
        yield f"{outcome.source.path}:{line}:{column}: {fix.rule} is not kept: {item.reason}"
