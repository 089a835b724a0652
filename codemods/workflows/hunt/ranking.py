"""Failures by place: one line often holds up many operators."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .failure import Failure, Mode, Operator, Place


@dataclass(frozen=True)
class Held:
    """The operators that stop at one place, or for one reason where no place can be named (``place`` None)."""

    mode: Mode
    place: Place | None
    why: str
    """Why no place can be named."""
    failures: tuple[Failure, ...]

    @property
    def operators(self) -> tuple[Operator, ...]:
        """Each operator once, by name."""
        return tuple(sorted({failure.operator for failure in self.failures}))

    @property
    def expressions(self) -> tuple[str, ...]:
        """What could not be decided, each once."""
        return tuple(dict.fromkeys(failure.expression for failure in self.failures if failure.expression))

    @property
    def words(self) -> str:
        """The place, or why there is none."""
        return str(self.place) if self.place else self.why


def by_place(failures: Iterable[Failure]) -> tuple[Held, ...]:
    """The places, those that hold up most operators first."""
    groups: dict[tuple[str, ...], list[Failure]] = {}
    for failure in failures:
        place = failure.place
        key = (place.language, place.file, str(place.line), place.function) if place else (_reason(failure),)
        groups.setdefault((failure.mode.value, *key), []).append(failure)
    held = []
    for group in groups.values():
        first = group[0]
        why = first.why if len({failure.why for failure in group}) == 1 else _reason(first)
        held.append(Held(first.mode, first.place, why, tuple(group)))
    return tuple(sorted(held, key=lambda one: (-len(one.operators), one.mode.value, one.words)))


def by_mode(failures: Iterable[Failure]) -> dict[Mode, int]:
    """How many operators fail in each mode, in the order of `Mode`; an operator counts in the mode of each failure."""
    operators: dict[Mode, set[Operator]] = {}
    for failure in failures:
        operators.setdefault(failure.mode, set()).add(failure.operator)
    return {mode: len(operators[mode]) for mode in Mode if mode in operators}


def by_file(failures: Iterable[Failure]) -> dict[str, tuple[Held, ...]]:
    """The places of each file, the file that holds up most operators first; C++ without a known file is one."""
    files: dict[str, list[Failure]] = {}
    for failure in failures:
        if failure.place:
            files.setdefault(failure.place.file or "C++ (file not known)", []).append(failure)
    ranked = sorted(files.items(), key=lambda item: (-len({failure.operator for failure in item[1]}), item[0]))
    return {file: by_place(group) for file, group in ranked}


def _reason(failure: Failure) -> str:
    """Why there is no place, without what it is in particular."""
    return failure.why.partition(":")[0]
