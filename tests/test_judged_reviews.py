"""Tests of the board of reviewed changes: edits, agreement with a reviewer, and each change's data."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from scoreboards import judged_reviews
from scoreboards.judged_reviews import Replacement, Review, Row, edited, is_seen, judged, reviews, table_rows
from symfix.codemods.engine.registry import Registry
from symfix.codemods.engine.torch_context import TorchSurroundings
from symfix.codemods.torchapi.torch_finder import locate
from symfix.codemods.verify.change import Change
from symfix.codemods.verify.remaining_uses import remaining_uses

REVIEW = Review(
    "name",
    "source",
    "too early",
    "a.py",
    (Replacement("n = 1", "n = int(n)", below="def g"),),
    reported={"int(n)": "constant"},
)
TEXT = "def f():\n    n = 1\ndef g():\n    n = 1\n"


def answer(line: int, detail: str, verdict: str = "neutral") -> dict[str, Any]:
    return {"verdict": verdict, "remaining_uses": [{"line": line, "detail": detail}]}


def test_an_edit_changes_the_first_place_below_its_text() -> None:
    assert edited(TEXT, REVIEW) == TEXT.replace("def g():\n    n = 1", "def g():\n    n = int(n)")
    for lost in (Replacement("n = 2", ""), Replacement("n = 1", "", below="def h")):
        with pytest.raises(ValueError, match="substring not found"):
            edited(TEXT, dataclasses.replace(REVIEW, edit=(lost,)))


@pytest.mark.parametrize(
    ("change", "told", "seen"),
    [
        ({}, answer(4, "makes a constant"), True),
        ({}, answer(4, "throws"), False),
        ({}, answer(2, "makes a constant"), False),
        ({"verdict": "regressed"}, answer(4, "makes a constant"), False),
        ({"verdict": "regressed", "reported": None}, answer(2, "", "regressed"), True),
        ({"reported": None, "unreported": ("int(n)",)}, answer(4, "makes a constant"), False),
        ({"reported": None, "unreported": ("int(n)",)}, answer(2, "makes a constant"), True),
    ],
)
def test_an_answer_is_compared_with_the_reviewer(change: dict[str, Any], told: dict[str, Any], seen: bool) -> None:
    review = dataclasses.replace(REVIEW, **change)
    assert is_seen(review, edited(TEXT, REVIEW), told) is seen


def test_there_are_twelve_changes_or_more_each_with_a_reviewer_and_an_expectation() -> None:
    found = reviews()
    assert len(found) >= 12
    for one in found:
        assert one.source.startswith("pull request of 20") and one.review, one.name
        assert one.reported or one.unreported or one.verdict, one.name


@pytest.mark.parametrize("review", [one for one in reviews() if one.installed], ids=lambda one: str(one.name))
def test_the_lines_of_a_change_of_torch_are_reported_as_the_reviewer_saw_them(review: Review) -> None:
    path = locate(None, None).package.parent / review.file
    before = path.read_text()
    after = edited(before, review)
    around = TorchSurroundings(all_functions=True, drop_torchscript=True)
    found = remaining_uses([Change(path, before.encode(), after.encode())], around, Registry())
    uses = [{"line": use.line, "detail": use.detail} for use in found]
    assert is_seen(dataclasses.replace(review, verdict=""), after, {"verdict": "", "remaining_uses": uses}), uses


def test_a_change_is_judged_by_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.py").write_text("import torch\n\ndef f(x: torch.Tensor):\n    return x.shape[0]\n")
    review = Review(
        "one",
        "source",
        "constant",
        "a.py",
        (Replacement("x.shape[0]", "int(x.shape[0])"),),
        reported={"int(": "constant"},
    )
    row = judged(review, tmp_path)
    assert (row.name, row.verdict, row.seen) == ("one", "unverifiable", True)
    assert row.uses[0].startswith("4: `int(x.shape[0])` makes a constant")
    monkeypatch.setattr(judged_reviews.sys, "executable", "false")
    assert judged(review, tmp_path) == Row("one", "source", "no answer", False, (), "")
    assert table_rows([row])[1] == ("one", "source", "unverifiable", "yes", 1)
