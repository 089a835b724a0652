"""Tests of the board of releases: cells from what the commands print, and the table."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from scoreboards import releases
from scoreboards.releases import STEPS, Cell, Workplace, check, doctor, export, hunt, table_rows, timed, tried

PLACE = Workplace(Path("/nowhere"), Path("/tree"), 1.0)


def printed(stdout: str, code: int = 0, stderr: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.CompletedProcess([], code, stdout, stderr)


@pytest.mark.parametrize(
    ("step", "ran", "cell"),
    [
        (doctor, printed("ok       torch: 2.9.1 in /x\n"), Cell("doctor", True, "2.9.1")),
        (doctor, printed("missing  torch: none\n", 1), Cell("doctor", False, "exit 1: missing  torch: none")),
        (check, printed('{"files": [], "summary": {"files": 7}}', 1), Cell("check", True, "7 files")),
        (
            check,
            printed('{"files": [{"path": "a.py", "outcome": "failed"}], "summary": {"files": 1}}'),
            Cell("check", False, "a.py"),
        ),
        (check, printed("", 2, "Error: no torch\n"), Cell("check", False, "exit 2: Error: no torch")),
        (
            hunt,
            printed(json.dumps({"summary": {"passed": 5, "failed": 7, "untestable": 0}}), 1),
            Cell("hunt", True, "7 of 12 fail"),
        ),
        (
            hunt,
            printed(json.dumps({"summary": {"passed": 5, "failed": 6, "untestable": 1}}), 1),
            Cell("hunt", False, "6 of 11 fail"),
        ),
        (export, printed("positive_rows.py: proven\n"), Cell("export", True, "proven")),
        (
            export,
            printed("positive_rows.py: not proven yet\n", 1),
            Cell("export", False, "exit 1: positive_rows.py: not proven yet"),
        ),
    ],
)
def test_a_cell_is_read_from_a_command(
    step: releases.Step, ran: subprocess.CompletedProcess[str], cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Workplace, "run", lambda *words, **options: ran)
    assert step(PLACE) == cell


def test_a_fault_of_a_step_is_its_reason_and_a_command_has_a_limit(tmp_path: Path) -> None:
    def faulty(place: Workplace) -> Cell:
        raise ValueError("no JSON")

    cell = timed(faulty, PLACE)
    assert (cell.step, cell.ok, cell.told) == ("faulty", False, "ValueError: no JSON")
    place = Workplace(tmp_path, tmp_path, 0.2)
    place.environment.joinpath("bin").mkdir(parents=True)
    place.python.symlink_to("/bin/sleep")
    assert (place.run("slow", "5").returncode, (tmp_path / "slow.log").read_text()) == (124, "stopped after 0 s")


def test_an_environment_is_made_once_and_one_that_fails_ends_the_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Workplace(tmp_path, tmp_path, 1.0)
    steps = [lambda place: Cell("step", True, "")]
    monkeypatch.setattr(releases, "install", lambda place, release: Cell("install", False, release))
    assert [cell.step for cell in tried(place, "2.9.1", steps)] == ["install"]
    place.environment.joinpath("bin").mkdir(parents=True)
    place.python.touch()
    assert [cell.step for cell in tried(place, "2.9.1", steps)] == ["step"]
    assert tried(place, "2.9.1", []) == []


def test_the_table_has_a_row_for_each_step() -> None:
    found = {
        "2.9.1": [Cell("doctor", True, "2.9.1"), Cell("fix", False, "exit 2: x")],
        "newest": [Cell("doctor", True, "3.0")],
    }
    assert table_rows(found) == [("", "2.9.1", "newest"), ("doctor", "ok 2.9.1", "ok 3.0"), ("fix", "no exit 2: x", "")]
    assert len(STEPS) == 7
