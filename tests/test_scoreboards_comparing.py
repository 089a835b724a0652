"""Tests of the scoreboards' comparison by tokens: equality, people's changes, the tool's changes."""

from __future__ import annotations

import pytest
from scoreboards.comparing import Likeness, compare
from scoreboards.tokens import hunks, symbolic_hunks, tokens

OLD = "Tensor f(const Tensor& x) {\n  int64_t n = x.size(0);\n  return x.view({n, -1});\n}\n"
PEOPLE = "Tensor f(const Tensor& x) {\n  auto n = x.sym_size(0);\n  return x.view_symint({n, -1});\n}\n"


def words(text: str) -> list[str]:
    return [token.text for token in tokens(text)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a.b( c )", "a . b(c)"),
        ("f(x); // why", "f(x);"),
        ("f(/* now */ x)", "f(x)"),
        ("c10::SymInt n", "SymInt n"),
        ("std::vector<c10::SymInt> v", "std::vector<SymInt> v"),
        ("at::SymIntArrayRef s", "c10::SymIntArrayRef s"),
    ],
)
def test_layout_comments_and_the_spelling_of_a_namespace_do_not_count(one: str, other: str) -> None:
    assert words(one) == words(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a.b", "a->b"),
        ("c10::irange(n)", "irange(n)"),
        ('"a b"', '"ab"'),
        ("n == 0", "n = = 0"),
        ("auto n", "SymInt n"),
    ],
)
def test_everything_else_counts(one: str, other: str) -> None:
    assert words(one) != words(other)


def test_a_token_knows_its_byte_in_a_text_that_is_not_ascii() -> None:
    text = '"é" x'
    assert tokens(text)[1].start == text.encode().index(b"x")


def test_only_the_hunks_that_bring_symbolic_sizes_are_peoples_change() -> None:
    old = tokens("int64_t n = x.size(0); c10::optional<Tensor> t; int64_t k = 3;")
    new = tokens("auto n = x.sym_size(0); std::optional<Tensor> t; auto k = 3;")
    assert [str(hunk) for hunk in symbolic_hunks(old, new)] == ["int64_t → auto", "size → sym_size"]
    assert len(hunks(old, new)) == 4


def test_a_function_without_such_a_hunk_is_not_compared() -> None:
    assert compare("f(c10::optional<int> x) {}", "f(std::optional<int> x) {}", "f(c10::optional<int> x) {}") is None


def test_identical_up_to_layout() -> None:
    found = compare(OLD, PEOPLE, PEOPLE.replace("\n", " "))
    assert found is not None
    assert found.likeness is Likeness.IDENTICAL
    assert found.count(Likeness.IDENTICAL) == 3


def test_identical_although_people_changed_other_things_too() -> None:
    theirs = PEOPLE.replace("const Tensor& x", "const at::Tensor& x")
    found = compare(OLD, theirs, PEOPLE)
    assert found is not None
    assert found.likeness is Likeness.IDENTICAL


def test_refused_is_a_function_left_as_it_was() -> None:
    found = compare(OLD, PEOPLE, OLD)
    assert found is not None
    assert (found.likeness, found.count(Likeness.REFUSED), found.extra) == (Likeness.REFUSED, 3, ())


def test_another_spelling_of_a_type_is_different() -> None:
    found = compare(OLD, PEOPLE, PEOPLE.replace("auto", "c10::SymInt"))
    assert found is not None
    assert found.likeness is Likeness.DIFFERENT
    assert (found.count(Likeness.IDENTICAL), found.count(Likeness.DIFFERENT)) == (2, 1)


def test_a_half_done_function_is_different() -> None:
    found = compare(OLD, PEOPLE, OLD.replace("view(", "view_symint("))
    assert found is not None
    assert found.likeness is Likeness.DIFFERENT
    assert (found.count(Likeness.IDENTICAL), found.count(Likeness.REFUSED)) == (1, 2)


LONGER = OLD.replace("  return", "  check(x.numel());\n  return")


def test_what_only_the_tool_changes_is_a_plus() -> None:
    theirs = PEOPLE.replace("  return", "  check(x.numel());\n  return")
    found = compare(LONGER, theirs, theirs.replace("numel", "sym_numel"))
    assert found is not None
    assert found.likeness is Likeness.PLUS
    assert found.count(Likeness.IDENTICAL) == 3
    assert [str(hunk) for hunk in found.extra] == ["numel → sym_numel"]


def test_a_plus_does_not_outweigh_what_is_missing() -> None:
    theirs = PEOPLE.replace("  return", "  check(x.numel());\n  return")
    found = compare(LONGER, theirs, theirs.replace("numel", "sym_numel").replace("auto", "int64_t"))
    assert found is not None
    assert found.likeness is Likeness.DIFFERENT
