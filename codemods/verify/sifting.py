"""Of a set of fixes, keep the good ones: find the smallest guilty one, drop it, verify the rest again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .change import Change, Verdict, Verification

ROUNDS = 4

Ask = Callable[[Sequence[int]], Verification]
Prove = Callable[[Sequence[Change]], Verification]


@dataclass(frozen=True)
class Dropped:
    """A fix that is not kept, by its number, and why."""

    number: int
    reason: str


@dataclass(frozen=True)
class Sifted:
    """The numbers of the fixes to keep, those to drop, and the verification of what is kept (None: nothing is)."""

    kept: tuple[int, ...]
    dropped: tuple[Dropped, ...]
    verification: Verification | None


def harmful(verification: Verification) -> bool:
    """Whether a verification says that the change must not stay."""
    silent = any(check.gained and check.deviates for check in verification.checks)
    return silent or verification.verdict in (Verdict.REGRESSED, Verdict.BROKEN_BASELINE)


def sift(count: int, ask: Ask, rounds: int = ROUNDS) -> Sifted:
    """Verify all of ``count`` fixes; while they do harm, drop the smallest guilty one, at most ``rounds`` times.

    ``ask`` verifies the fixes of the given numbers, in order, against the text without any. A set that is still harmful
    after the last round is dropped whole.
    """
    left = list(range(count))
    dropped: list[Dropped] = []
    for _ in range(rounds):
        if not left:
            return Sifted((), tuple(dropped), None)
        verification = ask(left)
        if not harmful(verification):
            return Sifted(tuple(left), tuple(dropped), verification)
        if verification.verdict is Verdict.BROKEN_BASELINE:
            return Sifted((), tuple(Dropped(number, verification.reason) for number in left), verification)
        guilty, reason = _guilty(left, ask, verification)
        dropped.append(Dropped(guilty, reason))
        left.remove(guilty)
    last = ask(left) if left else None
    if last is None or not harmful(last):
        return Sifted(tuple(left), tuple(dropped), last)
    dropped += [Dropped(number, last.reason) for number in left]
    return Sifted((), tuple(dropped), None)


def _guilty(left: Sequence[int], ask: Ask, whole: Verification) -> tuple[int, str]:
    """The last fix of the shortest harmful beginning of ``left``, and what it does."""
    good, bad = 0, len(left)
    reason = whole.reason
    while bad - good > 1:
        middle = (good + bad) // 2
        verification = ask(left[:middle])
        if harmful(verification):
            bad, reason = middle, verification.reason
        else:
            good = middle
    return left[bad - 1], reason
