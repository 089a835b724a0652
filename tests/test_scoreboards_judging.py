"""Tests of the classes of differences between the tool's text and people's, and of the pairing of functions."""

from __future__ import annotations

from pathlib import Path

import pytest
from scoreboards.comparing import Likeness
from scoreboards.functions import Definition, definitions
from scoreboards.judging import READINGS, Case, document, judge, summary
from scoreboards.replay import symbolic_pairs
from symfix.codemods.model.rule import Skip

OLD = """Tensor f(const Tensor& x, IntArrayRef s) {
  int64_t n = x.size(0);
  auto y = x.view(s);
  return y.sum(n);
}
"""
BODY = OLD.replace("int64_t", "c10::SymInt").replace("x.size", "x.sym_size")
WHOLE = BODY.replace("IntArrayRef", "c10::SymIntArrayRef").replace("view", "view_symint")


def case(
    theirs: str, ours: str = OLD, *, skips: tuple[Skip, ...] = (), eligible: bool = True, registered: bool = True
) -> Case:
    return Case("F.cpp", "f", OLD, theirs, ours, skips, eligible, registered)


def kinds(one: Case) -> list[str]:
    judged = judge(one)
    assert judged is not None
    found = [problem.kind for problem in judged.problems]
    assert all(kind.partition(":")[0] in READINGS for kind in found)
    return found


def left_at(text: str, reason: str) -> Skip:
    start = OLD.index(text)
    return Skip("use_sym_sizes", 1, start, start + len(text), reason, "")


def test_an_identical_function_has_no_problems() -> None:
    assert kinds(case(BODY, BODY)) == []


def test_a_signature_belongs_to_the_schema_or_to_the_file() -> None:
    assert kinds(case(WHOLE, BODY)) == ["kernel signature", "kernel parameter"]
    assert kinds(case(WHOLE, BODY, registered=False)) == ["helper signature", "helper parameter"]


def test_what_the_tool_says_of_a_signature_is_said_again() -> None:
    skip = left_at("IntArrayRef s", "declared-type")
    assert kinds(case(WHOLE, BODY, skips=(skip,)))[0] == "kernel signature: declared-type"


def test_a_refusal_has_the_reason_that_the_tool_gave_for_that_statement() -> None:
    skip = left_at("x.size(0)", "loop-bound")
    assert kinds(case(BODY, skips=(skip,))) == ["left: loop-bound", "left: loop-bound"]


def test_a_refusal_elsewhere_in_the_function_is_said_to_come_after() -> None:
    skip = left_at("y.sum(n)", "no-symint-schema")
    assert kinds(case(BODY, skips=(skip,))) == ["after: no-symint-schema", "after: no-symint-schema"]


def test_a_refusal_without_a_word_is_said_to_have_no_seed() -> None:
    assert kinds(case(BODY)) == ["no seed", "no seed"]
    assert kinds(case(BODY, eligible=False)) == ["not eligible", "not eligible"]


def test_other_words_at_the_same_place_are_a_spelling() -> None:
    theirs = BODY.replace("c10::SymInt", "auto")
    assert kinds(case(theirs, BODY)) == ["spelling: auto / SymInt"]


def test_what_the_tool_does_beyond_people_is_one_problem_a_statement() -> None:
    ours = BODY.replace("y.sum(n)", "y.sum_symint(c10::SymInt(n))")
    assert kinds(case(BODY, ours)) == ["more: …_symint SymInt"]


def test_functions_whose_schema_changed_are_counted_apart() -> None:
    judged = [one for one in (judge(case(WHOLE, BODY)), judge(case(BODY, BODY))) if one is not None]
    figures = summary(judged)
    assert figures["functions"] == {"identical": 1, "identical plus": 0, "different": 1, "refused": 0}
    assert figures["functions, kernel signature kept"] == {
        "identical": 1,
        "identical plus": 0,
        "different": 0,
        "refused": 0,
    }
    assert sum(figures["hunks"].values()) == 2 + 4
    assert [one["likeness"] for one in document(judged)["functions"]] == ["different", "identical"]


def found_in(file: str, text: str) -> list[tuple[str, Definition]]:
    return [(file, one) for one in definitions(Path(file), text.encode())]


@pytest.mark.parametrize(
    ("old", "new", "pairs"),
    [
        (OLD, WHOLE, 1),
        (OLD, WHOLE.replace(" f(", " f_symint("), 1),
        (OLD, OLD, 0),
        (OLD, WHOLE.replace("x, ", "x, int64_t k, "), 0),
        (OLD, WHOLE.replace("& x", "& input"), 0),
        (OLD + OLD.replace("Tensor& x", "Scalar& x"), WHOLE, 0),
    ],
    ids=["same", "renamed", "unchanged", "one parameter more", "another name of a parameter", "a rival"],
)
def test_functions_are_paired_by_name_and_parameters_and_never_by_guess(old: str, new: str, pairs: int) -> None:
    assert len(symbolic_pairs(found_in("F.cpp", old), found_in("F.cpp", new))) == pairs


def test_a_function_may_move_to_another_file() -> None:
    ((file, before, after),) = symbolic_pairs(found_in("F.cpp", OLD), found_in("G.cpp", WHOLE))
    assert (file, before.text, after.text) == ("F.cpp", OLD.strip(), WHOLE.strip())


def test_refused_as_a_whole() -> None:
    judged = judge(case(BODY))
    assert judged is not None
    assert judged.comparison.likeness is Likeness.REFUSED
