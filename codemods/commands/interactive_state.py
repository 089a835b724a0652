"""State of ``fix -i``: the fixes accepted and rejected so far, and the resulting files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..engine.multi_file import drop_partial_changes
from ..engine.run import CheckRequest, RuleInputs, drop_fixes
from ..model.outcome import Changed, Outcome, Unchanged
from ..model.rule import Fix
from ..workflows.pull_requests.series.hunks import hunks_between

Key = tuple[int, str, int]
"""Key of a fix: index of its file's outcome, its rule, and its start in the original text."""


@dataclass
class InteractiveState:
    """Fixes of ``outcomes``, ordered by path and position, each undecided, accepted or rejected.

    Rejecting a fix may remove fixes that depend on it and may uncover others, which are then undecided.
    """

    outcomes: Sequence[Outcome]
    question: CheckRequest
    surroundings: RuleInputs
    votes: dict[Key, bool] = field(default_factory=dict)
    _fixes: dict[Key, Fix] = field(default_factory=dict)
    _made: dict[tuple[int, frozenset[Key]], Outcome] = field(default_factory=dict)

    @property
    def keys(self) -> list[Key]:
        """Return every current fix and every rejected one, in order."""
        for number, outcome in enumerate(self.outcomes):
            if isinstance(outcome, Changed):
                for fix in self._applied(number, self._left(number)):
                    self._fixes[number, fix.rule, fix.start] = fix
        there = {key for number, _ in enumerate(self.outcomes) for key in self._present(number)}
        return sorted(
            there | {key for key, vote in self.votes.items() if not vote}, key=lambda key: (key[0], key[2], key[1])
        )

    def fix(self, key: Key) -> Fix:
        return self._fixes[key]

    def open(self) -> list[Key]:
        """Return the undecided fixes."""
        return [key for key in self.keys if key not in self.votes]

    def vote(self, key: Key, taken: bool) -> None:
        self.votes[key] = taken

    def rest_of_file(self, key: Key) -> list[Key]:
        """Return this fix and the later undecided ones of its file."""
        keys = self.keys
        later = keys[keys.index(key) :]
        return [one for one in later if one[0] == key[0] and (one == key or one not in self.votes)]

    def sides(self, key: Key) -> tuple[bytes, bytes]:
        """Return the file without and with a fix, excluding the rejected fixes."""
        left = self._left(key[0])
        return self._text(key[0], left | {key}), self._text(key[0], left - {key})

    def alone(self, key: Key) -> bytes:
        """Return the file with only this fix applied."""
        return self._text(key[0], frozenset(one for one in self.keys if one[0] == key[0] and one != key))

    def find(self, pattern: str, after: int) -> int | None:
        """Return the index of the next fix whose text matches, searching from ``after`` and wrapping around.

        Raises re.error.
        """
        keys = self.keys
        wanted = re.compile(pattern)
        order: list[int] = [*range(after + 1, len(keys)), *range(after + 1)]
        for number in order:
            if any(wanted.search(text) for text in self._words(keys[number])):
                return number
        return None

    def result(self) -> tuple[Outcome, ...]:
        """Return the outcomes with only the accepted fixes. Undecided fixes are rejected."""
        for key in self.open():
            self.votes[key] = False
        # Rejecting the undecided fixes may have uncovered others, which are rejected too.
        while more := self.open():
            for key in more:
                self.votes[key] = False
        left = [self._with(number, self._left(number)) for number, _ in enumerate(self.outcomes)]
        return tuple(drop_partial_changes(left, self._without))

    def _without(self, outcome: Changed, fixes: Sequence[Fix]) -> Changed | Unchanged:
        number = next(
            at for at, one in enumerate(self.outcomes) if isinstance(one, Changed) and one.source == outcome.source
        )
        gone = {(fix.rule, fix.start) for fix in fixes}
        left = self._left(number) | {key for key in self._fixes if key[0] == number and key[1:] in gone}
        found = self._with(number, left)
        assert isinstance(found, (Changed, Unchanged))
        return found

    def _words(self, key: Key) -> Iterator[str]:
        fix, outcome = self._fixes[key], self.outcomes[key[0]]
        assert isinstance(outcome, Changed)
        yield from (outcome.source.path.as_posix(), fix.rule, fix.message, fix.function or "", fix.default or "")
        for hunk in hunks_between(*self.sides(key)):
            yield from (*hunk.old, *hunk.new)

    def _present(self, number: int) -> list[Key]:
        return [(number, fix.rule, fix.start) for fix in self._applied(number, self._left(number))]

    def _left(self, number: int) -> frozenset[Key]:
        return frozenset(key for key, vote in self.votes.items() if key[0] == number and not vote)

    def _applied(self, number: int, left: frozenset[Key]) -> tuple[Fix, ...]:
        outcome = self._with(number, left)
        return outcome.applied if isinstance(outcome, Changed) else ()

    def _text(self, number: int, left: frozenset[Key]) -> bytes:
        outcome = self._with(number, left)
        if isinstance(outcome, Changed):
            return outcome.after
        original = self.outcomes[number]
        assert isinstance(original, Changed)
        return original.source.content

    def _with(self, number: int, left: frozenset[Key]) -> Outcome:
        outcome = self.outcomes[number]
        if not left or not isinstance(outcome, Changed):
            return outcome
        if (number, left) not in self._made:
            fixes = [self._fixes[key] for key in left]
            self._made[number, left] = drop_fixes(outcome, fixes, self.question, self.surroundings.context())
        return self._made[number, left]
