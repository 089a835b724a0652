"""Tests of the board of models that resemble public reports: consistent material and correct counts."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from scoreboards.report_models import REPORTS, WAYS, Case, Row, chosen, counts, kind_of, mended, read, row, table
from symfix.codemods.workflows.export.outcome import Exported, LastFailure, TargetVerdict
from symfix.codemods.workflows.export.target_trials import ModelTrial

ROOT = Path(__file__).parents[1]
CASES = read(REPORTS)
NEVER = re.compile(r"^(?:What|Whether|How|Which|Where)\b")
FAILED, MENDED = "failed", "passed"
ROW = Row("one", "kind", False, True, "", False, (), "left", "other-result", "why", False, ())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_model_has_a_small_patch_that_applies(case: Case, tmp_path: Path) -> None:
    text = mended(case, tmp_path)
    before = case.model.read_bytes()
    assert text != before
    compile(text, str(case.model), "exec")
    added = [line for line in case.patch.read_text().splitlines() if re.match(r"\+(?!\+\+ )", line)]
    assert len(added) <= 6


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_model_says_what_it_does_and_has_a_target(case: Case) -> None:
    tree = ast.parse(case.model.read_text())
    text = ast.get_docstring(tree) or ""
    assert re.fullmatch(r".+, as in reports of .+\.\n\nClass: .+\.", text)
    assert not NEVER.match(text)
    assert any(isinstance(node, ast.FunctionDef) and node.name == "target" for node in tree.body)


def test_no_model_stands_twice_and_each_class_of_the_table_has_two() -> None:
    assert len(CASES) >= 40
    forwards = [ast.dump(ast.parse(case.model.read_text()).body[-2]) for case in CASES]
    assert len(set(forwards)) == len(CASES)
    kinds = Counter(case.kind for case in CASES)
    assert all(kinds[kind] >= 2 for kind in TABLE), kinds
    assert {path.stem for path in REPORTS.glob("*.patch")} == {case.name for case in CASES}


TABLE = (
    "a SymBool under an operator of bools",
    "a body that does nothing for no rows",
    "a branch that does nothing where it is false",
    "a check of divisibility, then a branch",
    "a flag in a buffer",
    "a shortcut where two tensors are equal",
    "a size that the code knows",
    "a value that chooses between two values",
    "an early return for nothing",
    "float arithmetic on sizes",
    "int of a tensor",
    "lengthen by a difference of sizes",
    "refusal by a value",
    "refusal of sizes",
    "two sizes that have to be equal",
    "validation of arguments",
    "values that decide how often a loop runs",
)


def test_a_docstring_without_a_class_is_an_error() -> None:
    with pytest.raises(ValueError, match="Class"):
        kind_of('"""Add numbers."""\n')


def test_only_the_models_that_are_named_are_chosen() -> None:
    assert [case.name for case in chosen(CASES, [CASES[3].name])] == [CASES[3].name]
    assert chosen(CASES, None) == CASES
    assert not chosen(CASES, ["no-such-model"])


def test_a_row_tells_verdict_reason_and_refused_inputs() -> None:
    note = "compile: at rows = 0 the program refuses what the model takes: AssertionError: x"
    case = Case("one", "kind", Path("one.py"), Path("one.patch"))
    left = LastFailure("in-torch", "why", "export", None, "", ())
    human = ModelTrial("one.py", MENDED, "", notes=(note,))
    found = row(case, Exported("one.py", TargetVerdict.LEFT, "why", left=left), human, [["further input 1"], []])
    assert found.mendable and found.human_refuses and not found.refuses
    assert (found.verdict, found.reason, found.human_takes, found.takes) == (
        "left",
        "in-torch",
        ("further input 1",),
        (),
    )
    proven = Exported("one.py", TargetVerdict.PROVEN, notes=(note,))
    found = row(case, proven, ModelTrial("one.py", FAILED, "it stops"), [[], ["further input 2"]])
    assert found.refuses and found.takes and found.human_message == "it stops" and not found.mendable


def test_the_share_is_of_what_fails_and_a_person_mends() -> None:
    rows = [
        ROW,
        replace(ROW, verdict="proven", reason="", refuses=True),
        replace(ROW, verdict="proven", reason="", takes=("further input 1",)),
        replace(ROW, verdict="one side only"),
        replace(ROW, human=False),
        replace(ROW, human=False, verdict="proven"),
        replace(ROW, as_it_is=True, verdict="exports as it is"),
        replace(ROW, as_it_is=True, human=False, verdict="exports as it is"),
    ]
    assert counts(rows) == {
        "models": 8,
        "pass as they are": 2,
        "fail": 6,
        "fail, mended by a person": 4,
        "of these proven by symfix": 2,
        "proven, but an input is refused that the model takes": 1,
        "proven, but an input is taken that the model refuses": 1,
        "fail, mended by a person, one side only by symfix": 1,
        "fail, not mended by a person": 2,
        "proven by symfix alone": 1,
        "pass as they are, not with the person's patch": 1,
    }
    lines = list(table(WAYS[0], rows))
    assert "| share proven of what a person mends | 50 % |" in lines
    assert "| one | kind | fails | passes | proven, refuses an input |" in lines
    assert "| one | kind | fails | passes | proven, takes a refused one |" in lines
    assert "| kind | 4 | 2 |" in lines


def test_a_board_without_anything_to_mend_has_no_share() -> None:
    lines = list(table(WAYS[0], [replace(ROW, human=False)]))
    assert "| share proven of what a person mends | none to prove |" in lines


def test_the_board_measures_one_model_in_both_ways(tmp_path: Path) -> None:
    written, folder = tmp_path / "board.json", tmp_path / "patches"
    command = [sys.executable, "-m", "scoreboards.report_models", "--only", "moe_skip_idle_expert", "--jobs", "1"]
    command += ["--json", str(written), "--output", str(folder)]
    ran = subprocess.run(command, cwd=ROOT / "scripts", capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    told = json.loads(written.read_text())
    for way in WAYS:
        (only,) = told[way.name]["rows"]
        assert not only["as_it_is"] and only["human"] and only["verdict"] == "proven"
        assert list((folder / way.name).glob("*.patch"))
    assert (
        ran.stdout.count("| moe_skip_idle_expert | a body that does nothing for no rows | fails | passes | proven |")
        == 2
    )


def test_a_name_that_no_model_has_is_told() -> None:
    command = [sys.executable, "-m", "scoreboards.report_models", "--only", "nothing"]
    ran = subprocess.run(command, cwd=ROOT / "scripts", capture_output=True, text=True, check=False)
    assert ran.returncode == 1 and "no model of this name" in ran.stderr
