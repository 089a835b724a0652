"""The board of models in which values decide: its material fits, and drawn inputs find what is wrong."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest
from scoreboards.decision_models import DECISIONS, lines
from scoreboards.drawn_inputs import compared
from scoreboards.report_models import Case, mended, read

CASES = read(DECISIONS)
MENDED = [case for case in CASES if case.patch.is_file()]


@pytest.mark.parametrize("case", MENDED, ids=lambda case: case.name)
def test_each_patch_applies(case: Case, tmp_path: Path) -> None:
    text = mended(case, tmp_path)
    assert text != case.model.read_bytes()
    compile(text, str(case.model), "exec")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_model_says_what_it_does_and_has_a_target(case: Case) -> None:
    tree = ast.parse(case.model.read_text())
    assert re.fullmatch(r".+, as in .+\.\n\nClass: .+\.", ast.get_docstring(tree) or "")
    assert any(isinstance(node, ast.FunctionDef) and node.name == "target" for node in tree.body)


def test_there_are_thirty_models_that_a_person_mends_and_each_class_has_two() -> None:
    assert len(MENDED) >= 30
    assert all(count >= 2 for count in Counter(case.kind for case in CASES).values())
    forwards = [ast.dump(ast.parse(case.model.read_text()).body[-2]) for case in CASES]
    assert len(set(forwards)) == len(CASES)


def test_drawn_inputs_find_a_wrong_patch_and_no_right_one(tmp_path: Path) -> None:
    case = next(one for one in CASES if one.name == "rescale_image_range")
    right, wrong = tmp_path / "right.py", tmp_path / "wrong.py"
    right.write_bytes(mended(case, tmp_path))
    wrong.write_text(right.read_text().replace("peak > 1.0", "peak > 50.0"))
    assert compared(case.model, right, 60)["wrong"] == ""
    found = compared(case.model, wrong, 60)
    assert "in eager other values than eager" in found["wrong"]
    assert found["counts"]["wrong"] > 0


def test_the_table_counts_inputs_and_names_what_is_wrong() -> None:
    drawn = {
        "a": {"counts": {"equal": 3, "wrong": 1}, "wrong": "input 2: why"},
        "b": {"counts": {"equal": 4}, "wrong": ""},
    }
    said = list(lines(drawn))
    assert "| equal | 7 |" in said
    assert said[-1] == "wrong: a: input 2: why"
