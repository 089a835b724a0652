"""Tests of ``--since``, and of the script of the GitHub action, which uses it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from running import git, symfix

TOP = Path(__file__).parents[1]
FINDING = "import torch\n\ndef f(x: torch.Tensor):\n    torch._check_is_size(x.shape[0])\n    return x\n"


@pytest.fixture
def changed(tmp_path: Path) -> Path:
    """Return a repository with three findings, one of them in a file that differs, and one in a new file."""
    for name in ("same.py", "other name.py", "gone.py"):
        (tmp_path / name).write_text(FINDING)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "x")
    (tmp_path / "other name.py").write_text(FINDING + "# changed\n")
    (tmp_path / "new.py").write_text(FINDING)
    (tmp_path / "gone.py").unlink()
    git(tmp_path, "add", "new.py")
    return tmp_path


def _run_action(cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = cwd / "symfix-command"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m symfix.codemods.cli "$@"\n')
    command.chmod(0o755)
    return subprocess.run(
        [TOP / "scripts/check-changed"],
        cwd=cwd,
        env={**os.environ, "SYMFIX": str(command), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_check_since_looks_at_files_that_differ(changed: Path) -> None:
    found = symfix("check", "--format", "json", "--since", "HEAD", ".", cwd=changed, code=1)
    paths = {file["path"] for file in json.loads(found.stdout)["files"]}
    assert paths == {"new.py", "other name.py"}
    assert "_check_is_size" not in symfix("diff", "--since", "HEAD", "same.py", cwd=changed, code=0).stdout
    symfix("fix", "--allow-dirty", "--since", "HEAD", ".", cwd=changed, code=0)
    assert (changed / "same.py").read_text() == FINDING
    assert "_check_is_size" not in (changed / "new.py").read_text()


@pytest.mark.parametrize(
    ("revision", "said"),
    [
        ("nonsense", "--since nonsense: git diff: fatal: bad revision 'nonsense'"),
        ("--output=written", "fatal: bad revision"),
    ],
)
def test_check_since_an_unknown_revision_is_one_line(changed: Path, revision: str, said: str) -> None:
    assert said in symfix("check", f"--since={revision}", ".", cwd=changed, code=2).stderr
    assert not (changed / "written").exists()


def test_check_since_outside_of_a_repository_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "same.py").write_text(FINDING)
    told = symfix("check", "--since", "HEAD", ".", cwd=tmp_path, code=2, GIT_CEILING_DIRECTORIES=str(tmp_path.parent))
    assert "is in no git repository" in told.stderr


def test_the_action_annotates_changed_files_and_writes_sarif(changed: Path) -> None:
    ran = _run_action(changed, SYMFIX_SINCE="HEAD", SYMFIX_SARIF="found.sarif")
    assert ran.returncode == 1, ran.stderr
    assert {line.partition("file=")[2].partition(",")[0] for line in ran.stdout.splitlines()} == {
        "new.py",
        "other name.py",
    }
    (run,) = json.loads((changed / "found.sarif").read_text())["runs"]
    assert len(run["results"]) == 2
    assert _run_action(changed, SYMFIX_SINCE="nonsense", SYMFIX_SARIF="none.sarif").returncode == 2
    assert not (changed / "none.sarif").exists()


def test_the_action_gives_its_inputs_to_the_script() -> None:
    action = yaml.safe_load((TOP / "action.yml").read_text())
    check = next(step for step in action["runs"]["steps"] if step["name"] == "Check")
    script = (TOP / "scripts/check-changed").read_text()
    assert all(name in script for name in check["env"])
    used = {value.removeprefix("${{ inputs.").removesuffix(" }}") for value in check["env"].values()}
    assert used == set(action["inputs"]) - {"torch"}
