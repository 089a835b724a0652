from __future__ import annotations

from edit_recipes import edits_from
from hypothesis import given
from hypothesis import strategies as st
from symfix.codemods.model.edit import Buffer, Edit, apply, conflict
from symfix.codemods.model.rebase import Step


@st.composite
def rounds(draw: st.DrawFn) -> tuple[bytes, list[Edit], list[Edit]]:
    text = draw(st.binary(min_size=1, max_size=60))
    first = _fitting(text, draw(st.binary(min_size=4, max_size=48)))
    return text, first, _fitting(apply(text, first), draw(st.binary(min_size=4, max_size=48)))


def _fitting(text: bytes, recipe: bytes) -> list[Edit]:
    buffer = Buffer(text)
    return [edit for edit in edits_from(text, recipe, longest=8) if buffer.offer([edit])]


@given(rounds())
def test_rebased_edits_with_the_untouched_old_ones_give_the_second_rounds_text(
    case: tuple[bytes, list[Edit], list[Edit]],
) -> None:
    text, first, second = case
    after = apply(text, first)
    rebased = Step(tuple(first), after).rebase(second)
    swallowed = [old for old in first if any(conflict(old, new) for new in rebased)]
    rest = [old for old in first if old not in swallowed]
    for old, new in ((old, new) for old in swallowed for new in rebased if conflict(old, new)):
        assert new.start <= old.start <= old.end <= new.end
    assert apply(text, [*rest, *rebased]) == apply(after, second)


@given(rounds())
def test_origin_of_an_untouched_byte_is_that_byte(case: tuple[bytes, list[Edit], list[Edit]]) -> None:
    text, first, _ = case
    after = apply(text, first)
    step = Step(tuple(first), after)
    at = was = 0
    for edit in sorted(first):
        for offset in range(edit.start - was):
            assert step.origin(at + offset) == was + offset
        at += edit.start - was
        for offset in range(len(edit.text)):
            assert step.origin(at + offset) == edit.start
        at += len(edit.text)
        was = edit.end
    for offset in range(len(text) - was):
        assert step.origin(at + offset) == was + offset


def test_an_edit_inside_written_text_takes_that_text_along() -> None:
    step = Step((Edit(4, 7, b"three"),), b"one three four")
    assert step.rebase([Edit(4, 9, b"3")]) == (Edit(4, 7, b"3"),)
    assert step.rebase([Edit(6, 7, b"H")]) == (Edit(4, 7, b"thHee"),)
    assert step.rebase([Edit(10, 14, b"4")]) == (Edit(8, 12, b"4"),)
    assert step.rebase([Edit(4, 5, b"T"), Edit(8, 9, b"E")]) == (Edit(4, 7, b"ThreE"),)
