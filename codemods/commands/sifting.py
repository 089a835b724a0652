"""``fix --verify``: the fixes that do harm are named and dropped, the others stay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..outcome import Changed, Outcome
from ..rule import Fix
from ..run import Question, Surroundings, turn_down
from ..verify.change import Change, Verification
from ..verify.sifting import Dropped, Prove, sift


@dataclass(frozen=True)
class Kept:
    """``outcomes`` without the harmful fixes, what was dropped in words, and the verification of what stays."""

    outcomes: tuple[Outcome, ...]
    dropped: tuple[str, ...]
    verification: Verification | None


def keep_good(outcomes: Sequence[Outcome], question: Question, surroundings: Surroundings, prove: Prove) -> Kept:
    """Prove all changes together; if they do harm, find the fixes that do and leave them out."""
    fixes = [
        (number, fix)
        for number, outcome in enumerate(outcomes)
        if isinstance(outcome, Changed)
        for fix in outcome.applied
    ]

    def ask(numbers: Sequence[int]) -> Verification:
        chosen = _with(outcomes, [fixes[number] for number in numbers], question, surroundings)
        changed = [outcome for outcome in chosen if isinstance(outcome, Changed)]
        return prove([Change(outcome.source.path, outcome.source.content, outcome.after) for outcome in changed])

    sifted = sift(len(fixes), ask)
    if not sifted.dropped:
        return Kept(tuple(outcomes), (), sifted.verification)
    left = _with(outcomes, [fixes[number] for number in sifted.kept], question, surroundings)
    return Kept(tuple(left), tuple(_named(outcomes, fixes, sifted.dropped)), sifted.verification)


def _with(
    outcomes: Sequence[Outcome], fixes: Sequence[tuple[int, Fix]], question: Question, surroundings: Surroundings
) -> list[Outcome]:
    """The outcomes with these of their fixes alone."""
    found: list[Outcome] = []
    for number, outcome in enumerate(outcomes):
        kept = [fix for where, fix in fixes if where == number]
        if not isinstance(outcome, Changed) or len(kept) == len(outcome.applied):
            found.append(outcome)
        else:
            rest = [fix for fix in outcome.applied if fix not in kept]
            found.append(turn_down(outcome, rest, question, surroundings.context()))
    return found


def _named(outcomes: Sequence[Outcome], fixes: Sequence[tuple[int, Fix]], dropped: Sequence[Dropped]) -> Iterator[str]:
    for item in dropped:
        number, fix = fixes[item.number]
        outcome = outcomes[number]
        assert isinstance(outcome, Changed)
        line, column = outcome.source.line_column(fix.start)
        yield f"{outcome.source.path}:{line}:{column}: {fix.rule} is not kept: {item.reason}"
