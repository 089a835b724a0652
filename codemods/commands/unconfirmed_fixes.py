"""``fix --verify``: confirmed fixes are kept, the others are reported and dropped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from ..engine.multi_file import units
from ..engine.run import CheckRequest, RuleInputs, drop_fixes
from ..model.outcome import Changed, Outcome, Unchanged
from ..model.rule import Fix
from ..model.source_file import SourceFile
from ..verify.change import Change, Verification
from ..verify.compare.fix_bisection import DroppedFix, Prove, sift
from ..verify.compare.line_coverage import origins


@dataclass(frozen=True)
class ConfirmedFixes:
    """Outcomes without the dropped fixes, descriptions of these, and the verification of the kept ones.

    ``harm``: a dropped fix caused a regression.
    """

    outcomes: tuple[Outcome, ...]
    dropped: tuple[str, ...]
    verification: Verification | None
    harm: bool = False


def keep_confirmed(
    outcomes: Sequence[Outcome], question: CheckRequest, surroundings: RuleInputs, prove: Prove
) -> ConfirmedFixes:
    """Verify all changes together. Drop the fixes that cause a regression or whose lines were not run."""
    fixes = units(
        (number, fix)
        for number, outcome in enumerate(outcomes)
        if isinstance(outcome, Changed)
        for fix in outcome.applied
    )

    @cache
    def changes(numbers: tuple[int, ...]) -> list[Change]:
        chosen = _with(outcomes, [part for number in numbers for part in fixes[number]], question, surroundings)
        changed = [outcome for outcome in chosen if isinstance(outcome, Changed)]
        return [Change(outcome.source.path, outcome.source.content, outcome.after) for outcome in changed]

    def idle(numbers: Sequence[int], verification: Verification) -> dict[int, list[int]]:
        unrun = {change.path: _unrun(change, verification) for change in changes(tuple(numbers))}
        found = {}
        for number in numbers:
            parts = ((fix, _source(outcomes[where])) for where, fix in fixes[number])
            idle_lines = (_lines(fix, source) & unrun.get(source.path, frozenset()) for fix, source in parts)
            found[number] = sorted(line for lines in idle_lines for line in lines)
        return {number: lines for number, lines in found.items() if lines}

    sifted = sift(len(fixes), lambda numbers: prove(changes(tuple(numbers))), idle)
    if not sifted.dropped:
        return ConfirmedFixes(tuple(outcomes), (), sifted.verification)
    left = _with(outcomes, [part for number in sifted.kept for part in fixes[number]], question, surroundings)
    harm = any(item.harmful for item in sifted.dropped)
    return ConfirmedFixes(tuple(left), tuple(_named(outcomes, fixes, sifted.dropped)), sifted.verification, harm)


def _source(outcome: Outcome) -> SourceFile:
    assert isinstance(outcome, Changed)
    return outcome.source


def _unrun(change: Change, verification: Verification) -> frozenset[int]:
    """Return the lines of the original text whose changed lines were not run."""
    places = (place.rpartition(":") for place in verification.unrun)
    return origins(change, {int(line) for name, _, line in places if name == str(change.path)})


def _lines(fix: Fix, source: SourceFile) -> set[int]:
    """Return the lines that a fix changes, counted from 1."""
    spans = ((source.line_column(edit.start)[0], source.line_column(edit.end)[0]) for edit in fix.edits)
    return {line for first, last in spans for line in range(first, last + 1)}


def _with(
    outcomes: Sequence[Outcome], fixes: Sequence[tuple[int, Fix]], question: CheckRequest, surroundings: RuleInputs
) -> list[Outcome]:
    """Return the outcomes with only the given fixes."""
    found: list[Outcome] = []
    for number, outcome in enumerate(outcomes):
        kept = [fix for where, fix in fixes if where == number]
        if not isinstance(outcome, Changed) or len(kept) == len(outcome.applied):
            found.append(outcome)
        else:
            found.append(_only(outcome, kept, question, surroundings))
    return found


def _only(
    outcome: Changed, kept: Sequence[Fix], question: CheckRequest, surroundings: RuleInputs
) -> Changed | Unchanged:
    """Return an outcome with only these fixes.

    Another rule may fix the place of a removed fix. Such fixes are removed too.
    """
    wanted = {(fix.rule, fix.start) for fix in kept}
    rest = [fix for fix in outcome.applied if fix not in kept]
    while True:
        left = drop_fixes(outcome, rest, question, surroundings.context())
        further = (
            [fix for fix in left.applied if (fix.rule, fix.start) not in wanted] if isinstance(left, Changed) else []
        )
        if not further:
            return left
        rest += further


def _named(
    outcomes: Sequence[Outcome], fixes: Sequence[Sequence[tuple[int, Fix]]], dropped: Sequence[DroppedFix]
) -> Iterator[str]:
    for item in dropped:
        number, fix = fixes[item.number][0]
        source = _source(outcomes[number])
        line, column = source.line_column(fix.start)
        yield f"{source.path}:{line}:{column}: {fix.rule} is not kept: {item.reason}"
