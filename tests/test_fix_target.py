"""`symfix fix --target`: only what the export of a target proves is written, and only to files that are named."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from running import git, symfix
from symfix.codemods.commands.proven_targets import planned
from symfix.codemods.workflows.export.outcome import Exported, ExportOutcome, FilePatch, TargetVerdict

DECISIONS = Path(__file__).parents[1] / "golden" / "decisions"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("normalise_unless_zero", "loud_rows_printed"):
        shutil.copy(DECISIONS / f"{name}.py", tmp_path)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "begin")
    return tmp_path


def test_a_proven_change_is_written_and_another_file_stays(project: Path) -> None:
    before = {path.name: path.read_bytes() for path in project.glob("*.py")}
    words = ("--unsafe-fixes", "--target", "normalise_unless_zero.py", "--target", "loud_rows_printed.py")
    ended = symfix("fix", *words, ".", cwd=project, code=1)
    after = {path.name: path.read_bytes() for path in project.glob("*.py")}
    assert b"torch.where(norm != 0, x / norm, x)" in after["normalise_unless_zero.py"]
    assert after["loud_rows_printed.py"] == before["loud_rows_printed.py"]
    assert "loud_rows_printed.py: left" in ended.stdout
    assert "normalise_unless_zero.py written" in ended.stderr


def test_nothing_of_it_is_done_without_a_target(project: Path) -> None:
    before = (project / "normalise_unless_zero.py").read_bytes()
    symfix("fix", "--unsafe-fixes", "normalise_unless_zero.py", cwd=project, code=0)
    assert (project / "normalise_unless_zero.py").read_bytes() == before
    said = symfix("fix", "--target", "normalise_unless_zero.py", ".", cwd=project, code=2)
    assert "--target goes with --unsafe-fixes" in said.stderr


def test_a_target_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    def file(name: str, after: bytes) -> FilePatch:
        return FilePatch(name, tmp_path / name, b"", after)

    def outcome(*targets: tuple[FilePatch, ...]) -> ExportOutcome:
        found = tuple(Exported(f"t{at}", TargetVerdict.PROVEN, files=files) for at, files in enumerate(targets))
        return ExportOutcome("2.13", ("export",), False, found, 0.0)

    here, there = file("a/m.py", b"1"), file("b/n.py", b"1")
    alone = planned(outcome((here, there)), [tmp_path / "a"])
    assert (alone.files, alone.left) == ((), ("t0: not written: b/n.py is changed too; name it",))
    assert planned(outcome((here,), (here, there)), [tmp_path]).files == (here, there)
    twice = planned(outcome((here,), (file("a/m.py", b"2"),)), [tmp_path])
    assert twice.files == () and "another target needs a/m.py otherwise" in twice.left[0]
