"""Which fixes a person took and left so far, and what the files are with that: the state behind ``fix -i``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..engine.families import only_whole
from ..engine.outcome import Changed, Outcome, Unchanged
from ..engine.rule import Fix
from ..engine.run import Question, Surroundings, turn_down
from ..workflows.series.hunks import hunks_between

Key = tuple[int, str, int]
"""A fix: the number of its file's outcome, its rule, and where it starts in the original."""


@dataclass
class Ballot:
    """The fixes of ``outcomes`` in path order and by place; each is open, taken or left.

    Leaving a fix may take others away that built on it, and may bring others: those are open then.
    """

    outcomes: Sequence[Outcome]
    question: Question
    surroundings: Surroundings
    votes: dict[Key, bool] = field(default_factory=dict)
    _fixes: dict[Key, Fix] = field(default_factory=dict)
    _made: dict[tuple[int, frozenset[Key]], Outcome] = field(default_factory=dict)

    @property
    def keys(self) -> list[Key]:
        """Every fix that there is now or that was left, in order."""
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
        """The fixes that nobody has decided on."""
        return [key for key in self.keys if key not in self.votes]

    def vote(self, key: Key, taken: bool) -> None:
        self.votes[key] = taken

    def rest_of_file(self, key: Key) -> list[Key]:
        """This fix and the later ones of its file that are still open."""
        keys = self.keys
        later = keys[keys.index(key) :]
        return [one for one in later if one[0] == key[0] and (one == key or one not in self.votes)]

    def sides(self, key: Key) -> tuple[bytes, bytes]:
        """The file without and with a fix, beside what else was left."""
        left = self._left(key[0])
        return self._text(key[0], left | {key}), self._text(key[0], left - {key})

    def alone(self, key: Key) -> bytes:
        """The file with this fix and none of the others."""
        return self._text(key[0], frozenset(one for one in self.keys if one[0] == key[0] and one != key))

    def find(self, pattern: str, after: int) -> int | None:
        """The number of the next fix, behind number ``after`` and round, whose words match; raises re.error."""
        keys = self.keys
        wanted = re.compile(pattern)
        order: list[int] = [*range(after + 1, len(keys)), *range(after + 1)]
        for number in order:
            if any(wanted.search(text) for text in self._words(keys[number])):
                return number
        return None

    def result(self) -> tuple[Outcome, ...]:
        """The outcomes with what was taken; what is still open is left."""
        for key in self.open():
            self.votes[key] = False
        # Leaving the open ones may have brought others, which nobody asked for either.
        while more := self.open():
            for key in more:
                self.votes[key] = False
        left = [self._with(number, self._left(number)) for number, _ in enumerate(self.outcomes)]
        return tuple(only_whole(left, self._without))

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
            self._made[number, left] = turn_down(outcome, fixes, self.question, self.surroundings.context())
        return self._made[number, left]
