"""Failures grouped by place, since one line often blocks many operators."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .failure import Failure, FailurePlace, Mode, Operator


@dataclass(frozen=True)
class FailureGroup:
    """Operators that fail at one place, or for one reason if no place is known (``place`` is None)."""

    mode: Mode
    place: FailurePlace | None
    why: str
    """Reason why no place is known."""
    failures: tuple[Failure, ...]

    @property
    def operators(self) -> tuple[Operator, ...]:
        """Return the operators without repetition, sorted by name."""
        return tuple(sorted({failure.operator for failure in self.failures}))

    @property
    def expressions(self) -> tuple[str, ...]:
        """Return the undecided expressions without repetition."""
        return tuple(dict.fromkeys(failure.expression for failure in self.failures if failure.expression))

    @property
    def words(self) -> str:
        """Return the place, or the reason for its absence."""
        return str(self.place) if self.place else self.why


def by_place(failures: Iterable[Failure]) -> tuple[FailureGroup, ...]:
    """Group failures by place, the places with most operators first."""
    groups: dict[tuple[str, ...], list[Failure]] = {}
    for failure in failures:
        place = failure.place
        key = (place.language, place.file, str(place.line), place.function) if place else (_reason(failure),)
        groups.setdefault((failure.mode.value, *key), []).append(failure)
    held = []
    for group in groups.values():
        first = group[0]
        why = first.why if len({failure.why for failure in group}) == 1 else _reason(first)
        held.append(FailureGroup(first.mode, first.place, why, tuple(group)))
    return tuple(sorted(held, key=lambda one: (-len(one.operators), one.mode.value, one.words)))


def by_mode(failures: Iterable[Failure]) -> dict[Mode, int]:
    """Count the failing operators of each mode, in the order of `Mode`.

    An operator is counted in the mode of each of its failures.
    """
    operators: dict[Mode, set[Operator]] = {}
    for failure in failures:
        operators.setdefault(failure.mode, set()).add(failure.operator)
    return {mode: len(operators[mode]) for mode in Mode if mode in operators}


def by_file(failures: Iterable[Failure]) -> dict[str, tuple[FailureGroup, ...]]:
    """Group places by file, the file with most operators first. C++ without a known file is one group."""
    files: dict[str, list[Failure]] = {}
    for failure in failures:
        if failure.place:
            files.setdefault(failure.place.file or "C++ (file not known)", []).append(failure)
    ranked = sorted(files.items(), key=lambda item: (-len({failure.operator for failure in item[1]}), item[0]))
    return {file: by_place(group) for file, group in ranked}


def _reason(failure: Failure) -> str:
    """Return the general part of the reason why no place is known."""
    return failure.why.partition(":")[0]
