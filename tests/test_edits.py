from __future__ import annotations

import pytest
from edit_recipes import edits_from
from hypothesis import given
from hypothesis import strategies as st
from symfix.codemods.model.edit import Buffer, Edit, apply, conflict

TEXTS = st.one_of(
    st.binary(max_size=300),
    st.text(max_size=120).map(str.encode),
    st.text(alphabet=["a", "é", "\n", "\r", "\t", "漢", "}"], max_size=120).map(str.encode),
    st.sampled_from([b"", b"\n", b"\xef\xbb\xbfint x;\r\n", b"no final newline", b"\r", b"a\rb\r\nc"]),
)


@st.composite
def texts_and_edits(draw: st.DrawFn) -> tuple[bytes, list[Edit]]:
    text = draw(TEXTS)
    return text, edits_from(text, draw(st.binary(min_size=4, max_size=400)), longest=9)


@given(texts_and_edits())
def test_the_buffer_does_what_replacing_from_the_back_does(case: tuple[bytes, list[Edit]]) -> None:
    text, edits = case
    buffer = Buffer(text)
    taken = [edit for edit in edits if buffer.offer([edit])]
    assert taken
    expected = text
    for edit in sorted(taken, reverse=True):
        expected = expected[: edit.start] + edit.text + expected[edit.end :]
    assert buffer.result() == expected


@given(texts_and_edits())
def test_only_conflicting_edits_are_turned_away(case: tuple[bytes, list[Edit]]) -> None:
    text, edits = case
    buffer = Buffer(text)
    taken: list[Edit] = []
    for edit in edits:
        fits = not any(conflict(edit, other) for other in taken)
        assert buffer.offer([edit]) == fits
        if fits:
            taken.append(edit)


@given(texts_and_edits())
def test_a_transaction_is_all_or_nothing(case: tuple[bytes, list[Edit]]) -> None:
    text, edits = case
    buffer = Buffer(text)
    first, *rest = edits
    assert buffer.offer([first])
    before = buffer.result()
    clean: list[Edit] = []
    for edit in rest:
        if not any(conflict(edit, other) for other in clean):
            clean.append(edit)
    accepted = buffer.offer(clean)
    assert accepted == (not any(conflict(first, edit) for edit in clean))
    if not accepted:
        assert buffer.result() == before


@given(texts_and_edits())
def test_bytes_between_edits_survive_in_order(case: tuple[bytes, list[Edit]]) -> None:
    text, edits = case
    buffer = Buffer(text)
    taken = sorted(edit for edit in edits if buffer.offer([edit]))
    after = buffer.result()
    at = was = 0
    for edit in taken:
        kept = text[was : edit.start]
        assert after[at : at + len(kept)] == kept
        at += len(kept) + len(edit.text)
        was = edit.end
    assert after[at:] == text[was:]


def test_insertions_at_the_edge_of_another_edit_conflict() -> None:
    replaced = Edit(2, 5, b"x")
    assert conflict(Edit(2, 2, b"a"), replaced)
    assert conflict(replaced, Edit(5, 5, b"a"))
    assert conflict(Edit(3, 3, b"a"), Edit(3, 3, b"b"))
    assert not conflict(Edit(6, 6, b"a"), replaced)


def test_neighbours_do_not_conflict() -> None:
    assert not conflict(Edit(0, 2, b"a"), Edit(2, 4, b"b"))
    assert conflict(Edit(0, 3, b"a"), Edit(2, 4, b"b"))


def test_a_transaction_that_conflicts_with_itself_is_a_bug() -> None:
    with pytest.raises(ValueError, match="conflicts with itself"):
        Buffer(b"abcdef").offer([Edit(0, 3, b""), Edit(2, 4, b"")])


def test_an_edit_past_the_end_is_a_bug() -> None:
    with pytest.raises(ValueError, match="past the end"):
        Buffer(b"abc").offer([Edit(2, 4, b"")])


@pytest.mark.parametrize(("start", "end"), [(-1, 0), (3, 2)])
def test_an_edit_needs_a_range(start: int, end: int) -> None:
    with pytest.raises(ValueError, match="not a byte range"):
        Edit(start, end, b"")


def test_apply_refuses_overlaps_and_takes_any_iterable() -> None:
    assert apply(b"one two", iter([Edit(4, 7, b"2"), Edit(0, 3, b"1")])) == b"1 2"
    with pytest.raises(ValueError, match="overlaps"):
        apply(b"abc", [Edit(0, 2, b""), Edit(1, 3, b"")])
