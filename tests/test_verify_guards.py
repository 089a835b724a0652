"""Tests of guard comparison. Equivalent guards with different texts are no difference, and stricter ones are."""

from __future__ import annotations

import pytest
from symfix.codemods.verify.compare.guard_comparison import newly_rejected_sizes

POOLED = "Ne(Piecewise(((s7//3), s7 <= 3*((s7//3)) - 2), (((s7//3)) + 1, True)), 0)"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["2*s96 - 1 < 6"], ["(2*s96 + 3 > 6) & (2*s96 - 1 < 6)"]),
        (["2*s96 - 1 < 6", "2*s96 + 3 > 6"], ["(2*s96 + 3 > 6) & (2*s96 - 1 < 6)"]),
        ([], [POOLED]),
        (["s0 < 7"], ["s0 <= 6"]),
        (["Eq(s0, s1)"], ["Eq(s1, s0)", "Eq(Mod(s0*s1, s1), 0)"]),
        (["s0 < 7"], ["s0 < 70"]),
        (["Ne(s0, s1)"], ["~(Eq(s0, s1))"]),
        (["(s0/2) < 3"], ["s0 < 6"]),
    ],
)
def test_what_lets_the_same_sizes_through_is_no_difference(before: list[str], after: list[str]) -> None:
    assert newly_rejected_sizes(before, after) == ""


@pytest.mark.parametrize(
    ("before", "after", "sizes"),
    [
        ([], ["Ne(s0, 4711)"], "s0 = 4711"),
        (["s0 < 100"], ["s0 < 100", "Eq(Mod(s0, 2), 0)"], "s0 = 3"),
        ([], ["Eq(s0, 5)"], "s0 = 2"),
        ([], ["Piecewise((1, s0 > 3), (0, True)) > 0"], "s0 = 2"),
        (["s0 <= 6"], ["s0 <= 5"], "s0 = 6"),
    ],
)
def test_a_stricter_guard_is_named_with_sizes(before: list[str], after: list[str], sizes: str) -> None:
    assert newly_rejected_sizes(before, after) == sizes


def test_a_product_and_an_equality_are_tried_together() -> None:
    assert newly_rejected_sizes(["Eq(s1, s2)"], ["Eq(s1, s2)", "s1*s2 < 5000"]) not in ("", None)


@pytest.mark.parametrize("guard", ["u0 > 5", "Unheard(s0) > 5", "s0 >", "Eq(zf0, 1.5)", "s0.bit_length() > 3"])
def test_what_is_not_understood_is_left_to_others(guard: str) -> None:
    assert newly_rejected_sizes([], [guard]) is None


def test_guards_that_nothing_passes_say_nothing() -> None:
    assert newly_rejected_sizes(["s0 < 2"], ["s0 < 1"]) is None
