"""Bisection of a set of fixes: drop those that cause harm and those that no test ran, and verify again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..change import Change, Verdict, Verification

ROUNDS = 4

Ask = Callable[[Sequence[int]], Verification]
Idle = Callable[[Sequence[int], Verification], Mapping[int, Sequence[int]]]
"""Function that returns the changed lines of each fix, by its number, that a verification did not run."""
Prove = Callable[[Sequence[Change]], Verification]


@dataclass(frozen=True)
class DroppedFix:
    """Dropped fix, by its number, and the reason."""

    number: int
    reason: str
    harmful: bool = True
    """True if the fix made something worse, False if no run provides evidence about it."""


@dataclass(frozen=True)
class BisectResult:
    """Numbers of the kept fixes, dropped fixes, and the verification of the kept ones (None if there are none)."""

    kept: tuple[int, ...]
    dropped: tuple[DroppedFix, ...]
    verification: Verification | None


def find_harmful(verification: Verification) -> bool:
    """Return whether a verification shows that the change must be rejected."""
    silent = any(check.gained and check.deviates for check in verification.checks)
    return silent or verification.verdict in (Verdict.REGRESSED, Verdict.BROKEN_BASELINE)


def is_confirmed(verification: Verification) -> bool:
    """Return whether a change may be written: it is proven, or neutral with all changed lines run."""
    neutral = verification.verdict is Verdict.NEUTRAL and verification.ran_all
    return neutral or verification.verdict is Verdict.PROVEN


def _unproven(verification: Verification) -> str:
    if verification.verdict is Verdict.NEUTRAL:
        return f"nothing says that the changed lines were run; {verification.reason}"
    return verification.reason


def _none(left: Sequence[int], verification: Verification) -> Mapping[int, Sequence[int]]:
    return {}


def sift(count: int, ask: Ask, idle: Idle = _none, rounds: int = ROUNDS) -> BisectResult:
    """Verify all of ``count`` fixes, and drop harmful ones, the smallest guilty fix first, and those without coverage.

    ``ask`` verifies the fixes of the given numbers, in order, against the text without any. ``idle`` returns the fixes
    whose changed lines the verification did not run. A set that is still harmful after ``rounds`` guilty fixes is
    dropped whole. So is a set that is harmless, fully covered and still unproven.
    """
    left = list(range(count))
    dropped: list[DroppedFix] = []
    guilty = 0
    while left:
        verification = ask(left)
        if not find_harmful(verification):
            if is_confirmed(verification):
                return BisectResult(tuple(left), tuple(dropped), verification)
            unrun = idle(left, verification)
            if not unrun:
                dropped += [DroppedFix(number, _unproven(verification), harmful=False) for number in left]
                return BisectResult((), tuple(dropped), verification)
            dropped += [DroppedFix(number, _unrun(lines), harmful=False) for number, lines in unrun.items()]
            left = [number for number in left if number not in unrun]
            continue
        broken = verification.verdict is Verdict.BROKEN_BASELINE
        if broken or guilty == rounds:
            dropped += [DroppedFix(number, verification.reason) for number in left]
            return BisectResult((), tuple(dropped), verification if broken else None)
        number, reason = _guilty(left, ask, verification)
        dropped.append(DroppedFix(number, reason))
        left.remove(number)
        guilty += 1
    return BisectResult((), tuple(dropped), None)


def _unrun(lines: Sequence[int]) -> str:
    many = "line" if len(lines) == 1 else "lines"
    return f"nothing that was run runs {many} {', '.join(map(str, lines))}"


def _guilty(left: Sequence[int], ask: Ask, whole: Verification) -> tuple[int, str]:
    """Return the last fix of the shortest harmful prefix of ``left``, and the reason."""
    good, bad = 0, len(left)
    reason = whole.reason
    while bad - good > 1:
        middle = (good + bad) // 2
        verification = ask(left[:middle])
        if find_harmful(verification):
            bad, reason = middle, verification.reason
        else:
            good = middle
    return left[bad - 1], reason
