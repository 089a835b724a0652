"""Tests of bisecting fixes: harmful ones are found and dropped, and the others kept."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from symfix.codemods.harness.observation import Observation
from symfix.codemods.verify.change import Check, Verdict, Verification
from symfix.codemods.verify.compare.fix_bisection import Ask, DroppedFix, sift


def answering(bad: set[int], asked: list[tuple[int, ...]]) -> Ask:
    def ask(numbers: Sequence[int]) -> Verification:
        asked.append(tuple(numbers))
        harm = sorted(bad & set(numbers))
        verdict = Verdict.REGRESSED if harm else Verdict.PROVEN
        return Verification(verdict, f"because of {harm}", ())

    return ask


@given(st.integers(0, 40), st.sets(st.integers(0, 39), max_size=3))
def test_the_guilty_are_dropped_and_nobody_else(count: int, bad: set[int]) -> None:
    asked: list[tuple[int, ...]] = []
    answer = sift(count, answering(bad, asked))
    guilty = {number for number in bad if number < count}
    assert {item.number for item in answer.dropped} == guilty
    assert answer.kept == tuple(number for number in range(count) if number not in guilty)


def test_one_guilty_of_sixteen_takes_few_questions() -> None:
    asked: list[tuple[int, ...]] = []
    answer = sift(16, answering({11}, asked))
    assert len(asked) <= 6
    assert answer.dropped[0].number == 11
    assert "[11]" in answer.dropped[0].reason
    assert answer.verification is not None
    assert answer.verification.verdict is Verdict.PROVEN


def test_after_four_rounds_nothing_is_kept() -> None:
    answer = sift(6, answering({0, 1, 2, 3, 4}, []))
    assert answer.kept == ()
    assert len(answer.dropped) == 6


def test_two_that_harm_only_together_lose_the_later() -> None:
    def ask(numbers: Sequence[int]) -> Verification:
        return Verification(Verdict.REGRESSED if {1, 4} <= set(numbers) else Verdict.NEUTRAL, "", (), ran_all=True)

    assert [item.number for item in sift(6, ask).dropped] == [4]


def test_a_broken_baseline_keeps_nothing_and_asks_once() -> None:
    asked = []

    def ask(numbers: Sequence[int]) -> Verification:
        asked.append(numbers)
        return Verification(Verdict.BROKEN_BASELINE, "does not compile before the change", ())

    answer = sift(3, ask)
    assert answer.kept == ()
    assert len(asked) == 1


@pytest.mark.parametrize(("deviates", "harm"), [("size 0: a wrong shape", True), (None, False)])
def test_a_silent_deviation_is_harm_and_ignorance_is_not(deviates: str | None, harm: bool) -> None:
    check = Check("unbacked", "op", Observation(False), Observation(True), deviates=deviates)
    answer = sift(1, lambda _: Verification(Verdict.UNVERIFIABLE, "because", (), checks=(check,)))
    assert answer.kept == ()
    assert answer.dropped == (DroppedFix(0, "because", harmful=harm),)


def test_what_nothing_ran_is_dropped_without_harm() -> None:
    asked = []

    def ask(numbers: Sequence[int]) -> Verification:
        asked.append(tuple(numbers))
        return Verification(Verdict.UNVERIFIABLE if 1 in numbers else Verdict.PROVEN, "", ())

    answer = sift(3, ask, lambda left, _: {1: (7, 9)} if 1 in left else {})
    assert asked == [(0, 1, 2), (0, 2)]
    assert answer.kept == (0, 2)
    assert answer.dropped == (DroppedFix(1, "nothing that was run runs lines 7, 9", harmful=False),)
    assert answer.verification is not None
    assert answer.verification.verdict is Verdict.PROVEN


def test_what_nothing_ran_beside_harm_is_told_apart_from_it() -> None:
    def ask(numbers: Sequence[int]) -> Verification:
        verdict = Verdict.REGRESSED if 0 in numbers else Verdict.UNVERIFIABLE if 2 in numbers else Verdict.PROVEN
        return Verification(verdict, "worse", ())

    answer = sift(3, ask, lambda left, _: {2: (4,)} if 2 in left else {})
    assert answer.kept == (1,)
    assert [(item.number, item.harmful) for item in answer.dropped] == [(0, True), (2, False)]


@pytest.mark.parametrize(
    ("verification", "reason"),
    [
        (Verification(Verdict.UNVERIFIABLE, "no test reaches it", ()), "no test reaches it"),
        (Verification(Verdict.NEUTRAL, "the same", ()), "nothing says that the changed lines were run; the same"),
    ],
)
def test_what_nothing_bears_out_is_dropped_whole(verification: Verification, reason: str) -> None:
    answer = sift(2, lambda _: verification, lambda *_: {})
    assert answer.kept == ()
    assert answer.dropped == tuple(DroppedFix(number, reason, harmful=False) for number in (0, 1))
    assert answer.verification is verification


@pytest.mark.parametrize(
    "verification",
    [Verification(Verdict.PROVEN, "", ()), Verification(Verdict.NEUTRAL, "the same", (), ran_all=True)],
)
def test_what_is_borne_out_stays(verification: Verification) -> None:
    assert sift(2, lambda _: verification).kept == (0, 1)
