"""Tests of the board of public packages: consistent material, correct counts, and reports of missing packages."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from scoreboards.model_score import Targets, dynamic
from scoreboards.package_models import Row, blocked, board, chosen, counts, missing, rows_of, share
from scoreboards.package_targets import NEEDED, PACKAGES, SECOND, STAND_INS, group_of, names_of, root_of
from scoreboards.strangers_targets import PACKAGES as STRANGERS
from symfix.codemods.harness.process_limits import Limits
from symfix.codemods.harness.torch_variant import Harness
from symfix.codemods.workflows.export.outcome import (
    ExportBlocker,
    Exported,
    ExportOutcome,
    FilePatch,
    LastFailure,
    SourcePlace,
    TargetVerdict,
)
from symfix.codemods.workflows.repair.trials import Trial, Tried

ROOT = Path(__file__).parents[1]
ROW = Row("one", "kornia", 1, "left", "value-dependent", "why", (), ())


def test_there_are_enough_packages_and_targets_of_them() -> None:
    assert len(PACKAGES) >= 15
    assert all(names_of(package) for package in PACKAGES)
    assert sum(len(names_of(package)) for package in PACKAGES) >= 50
    assert len(set(PACKAGES) & set(STRANGERS)) <= 5
    assert not set(PACKAGES) & set(NEEDED)
    assert set(STAND_INS) <= set(PACKAGES)
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", pin) for pin in {**NEEDED, **PACKAGES}.values())


def test_the_hash_of_a_name_says_its_group() -> None:
    second = [package for package in PACKAGES if group_of(package) == 2]
    assert len(second) == SECOND
    assert group_of("kornia", ["kornia"]) == 2
    assert chosen(None, 2) == sorted(second, key=str.lower)
    assert chosen(["kornia", second[0]], None) == ["kornia", second[0]]
    assert chosen(["kornia"], 2) == []


def test_a_package_lies_in_its_archive_or_one_folder_below(tmp_path: Path) -> None:
    assert root_of("one==1", "one", tmp_path) is None
    inner = tmp_path / "one==1" / "one-1"
    (inner / "one").mkdir(parents=True)
    assert root_of("one==1", "one", tmp_path) == inner
    assert root_of("one==1", "two", tmp_path) is None
    source = tmp_path / "two==1" / "two-1" / "src"
    (source / "two").mkdir(parents=True)
    assert root_of("two==1", "two", tmp_path) == source


def test_a_row_tells_verdict_reason_and_refused_inputs() -> None:
    note = "export: at rows = 0 the program refuses what the model takes: AssertionError: x"
    file = FilePatch("kornia/a.py", Path("a.py"), b"a", b"b")
    left = LastFailure("in-torch", "it stops", "export", None, "", ())
    obstacle = ExportBlocker(
        SourcePlace("a.py", 1, "f"), "export", "u0 > 1", "", ("a check",), ("program refuses rows = 1",)
    )
    found = rows_of(
        "kornia",
        [
            Exported("a/package_targets.py:kornia__one", TargetVerdict.PROVEN, files=(file,), notes=(note,)),
            Exported("a/package_targets.py:kornia__two", TargetVerdict.LEFT, "it", (obstacle,), (file,), left=left),
            Exported("a/package_targets.py:kornia__three", TargetVerdict.UNUSABLE, "no such function"),
        ],
    )
    assert [row.target for row in found] == ["one", "two", "three"]
    assert (found[0].refused, found[0].files, found[0].fails) == (("rows = 0",), ("kornia/a.py",), True)
    assert (found[1].reason, found[1].message, found[1].files) == ("in-torch", "it stops", ())
    assert not found[2].fails and not found[2].usable and found[2].message == "no such function"


def test_the_share_is_of_what_fails() -> None:
    rows = [
        ROW,
        replace(ROW, verdict="proven", reason="", refused=("rows = 0",)),
        replace(ROW, verdict="proven", reason=""),
        replace(ROW, verdict="one side only", reason=""),
        replace(ROW, verdict="exports as it is", reason=""),
        replace(ROW, verdict="unusable", reason=""),
    ]
    figures = counts(rows)
    assert figures == {
        "targets": 6,
        "pass as they are": 1,
        "fail": 4,
        "proven": 2,
        "proven, but an input is refused that the model takes": 1,
        "one side only": 1,
        "proven with a change of torch": 0,
        "left": 1,
        "unusable": 1,
    }
    assert share(figures) == "50 %"
    assert share(counts([])) == "none fails"


def test_the_board_has_both_groups_and_says_what_is_missing() -> None:
    second = chosen(None, 2)[0]
    rows = [ROW, replace(ROW, package=second, group=2, verdict="proven", reason="")]
    gone = {"monai": "monai==1"}
    lines = list(board({"dynamic": rows, "unbacked": []}, ["kornia", "monai"], gone, 3.0))
    assert lines[0] == "2 packages; 3 minutes"
    assert "| kornia | 1 | one | left | value-dependent |" in lines
    assert "| share proven of what fails | 0 % | 100 % |" in lines
    assert "| left: value-dependent | 1 | 0 |" in lines
    assert lines[-2].startswith("not measured: monai, ") and "monai==1 not in" in lines[-2]
    assert lines[-1].startswith("scripts/package-models --download")
    assert not any("unbacked" in line for line in lines)


def test_a_missing_need_of_all_blocks_every_package(tmp_path: Path) -> None:
    gone = missing(tmp_path)
    assert gone == {**NEEDED, **PACKAGES}
    assert blocked("kornia", {"monai": "monai==1"}) == []
    assert blocked("kornia", {"einops": "einops==1", "kornia": "kornia==1"}) == ["einops==1", "kornia==1"]


def test_without_the_corpus_the_board_says_so_and_ends_well(tmp_path: Path) -> None:
    code = "import sys; from pathlib import Path; from scoreboards import package_models as board\n"
    code += f"board.CORPUS = Path({str(tmp_path)!r}); sys.argv = ['x', '--only', 'torchcrf']; board.main()"
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT / "scripts", capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("0 packages")
    assert "not measured: torchcrf, 2 targets: " in ran.stdout


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_an_unknown_name_is_no_target(package: str) -> None:
    from scoreboards import package_targets

    with pytest.raises(AttributeError):
        _ = getattr(package_targets, f"{package}__no_such_target")
    assert callable(getattr(package_targets, names_of(package)[0]))


def test_a_model_with_a_partial_patch_counts_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def tried(self: Targets, laboratory: Harness, variant: object, targets: dict[str, int], *_: int) -> Tried:
        assert targets
        return Tried({name: Trial(name, "failed") for name in targets})

    monkeypatch.setattr(Targets, "__call__", tried)
    file = FilePatch("model.py", tmp_path / "model.py", b"x = 1\n", b"x = 2\n")
    stopped = LastFailure("undecided-size", "u0", "compile", None, "", ())
    left = Exported("model.py:target", TargetVerdict.LEFT, files=(file,), left=stopped)
    outcome = ExportOutcome("2.13.0", ("compile",), True, (left,))
    before, after = dynamic(outcome, Harness(Path("python"), tmp_path, Limits()), 2)
    assert before == after == {"model.py:target": False}
