"""Continuous integration: the workflow's scripts, .ci/run with stand-ins, what .ci/install says, the own hooks."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from running import git

TOP = Path(__file__).parents[1]
WORKFLOW = yaml.safe_load((TOP / ".github" / "workflows" / "ci.yml").read_text())
HOOKS = TOP / ".pre-commit-config.yaml"
HERE = Path(sys.executable).parent
ENDING = "===== 3 passed, 1 skipped in 1.25s ====="


def executable(path: Path, *lines: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)


def test_the_workflow_runs_only_scripts_of_the_repository() -> None:
    assert set(WORKFLOW["jobs"]) == {"lint", "tests", "docs", "packages"}
    steps = [step for job in WORKFLOW["jobs"].values() for step in job["steps"]]
    scripts = [step["run"].removeprefix("sudo ").split()[0] for step in steps if "run" in step]
    assert {"scripts/lint", "scripts/test", "scripts/docs", "scripts/packages"} <= set(scripts)
    assert [script for script in scripts if not os.access(TOP / script, os.X_OK)] == []


def test_the_workflow_tests_the_pinned_torch_with_each_python_and_the_oldest_of_both() -> None:
    project = (TOP / "pyproject.toml").read_text()
    matrix = WORKFLOW["jobs"]["tests"]["strategy"]["matrix"]
    assert matrix["python"] == re.findall(r"Python :: (3\.\d+)", project)
    pinned = re.search(r"torch='torch==([\d.]+)\+cpu'", (TOP / "scripts" / "venv").read_text())
    oldest = re.search(r'"torch>=([\d.]+)"', project)
    assert pinned and oldest
    assert matrix["torch"] == [pinned[1]]
    assert {(one["python"], one["torch"]) for one in matrix["include"]} >= {(matrix["python"][0], f"{oldest[1]}.0")}


@pytest.mark.parametrize(("lint", "tests", "code"), [(0, 0, 0), (1, 0, 1), (0, 3, 3), (1, 3, 3)])
def test_ci_runs_every_part_and_ends_with_the_line_of_pytest(tmp_path: Path, lint: int, tests: int, code: int) -> None:
    shutil.copytree(TOP / ".ci", tmp_path / ".ci")
    executable(tmp_path / ".ci" / "install", "echo .ci/install: tmux: no such package")
    executable(tmp_path / "scripts" / "lint", "echo linted", f"exit {lint}")
    executable(tmp_path / "scripts" / "test", f"echo '{ENDING}'", "echo later", f"exit {tests}")
    ended = subprocess.run(["bash", ".ci/run"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == code
    lines = ended.stdout.splitlines()
    assert lines[:4] == [".ci/install: tmux: no such package", "linted", ENDING, "later"]
    assert lines[-1] == ENDING
    assert (".ci/run: format, lint or types failed, see above" in lines) == bool(lint)


def test_every_skipped_test_is_printed_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text("import pytest\n\ndef test_one():\n    pytest.skip('no tmux here')\n")
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-c", str(TOP / "pyproject.toml")]
    ended = subprocess.run(
        [*words, "--rootdir", ".", "test_one.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "SKIPPED [1] test_one.py:4: no tmux here" in ended.stdout


@pytest.mark.parametrize(
    ("user", "said"),
    [
        (1000, [".ci/install: left out, which takes root and apt-get: chromium chromium-driver tmux bubblewrap"]),
        (
            0,
            [
                ".ci/install: apt-get install --yes --no-install-recommends chromium-driver failed: E: none",
                ".ci/install: apt-get install --yes --no-install-recommends bubblewrap failed: E: none",
            ],
        ),
    ],
)
def test_what_cannot_be_installed_is_one_line_and_no_failure(tmp_path: Path, user: int, said: list[str]) -> None:
    programs = tmp_path / "bin"
    for name in ("sh", "mktemp", "rm", "timeout", "grep", "head"):
        programs.mkdir(exist_ok=True)
        (programs / name).symlink_to(str(shutil.which(name)))
    executable(programs / "id", f"echo {user}")
    executable(
        programs / "apt-get",
        f'echo "$@" >> {tmp_path}/calls',
        'case "$*" in *driver|*wrap) echo E: none; exit 100;; esac',
    )
    words = ["sh", str(TOP / ".ci" / "install")]
    environment = {**os.environ, "PATH": str(programs)}
    ended = subprocess.run(words, capture_output=True, text=True, check=True, env=environment)
    assert ended.stdout.splitlines() == said
    assert ended.stderr == ""
    calls = (tmp_path / "calls").read_text().splitlines() if user == 0 else []
    assert [call.split()[-1] for call in calls] == (
        ["update", "chromium", "chromium-driver", "tmux", "bubblewrap"] if user == 0 else []
    )


def test_the_own_hooks_are_the_parts_of_lint() -> None:
    (repository,) = yaml.safe_load(HOOKS.read_text())["repos"]
    entries = [hook["entry"].removesuffix(" --force-exclude") for hook in repository["hooks"]]
    linted = re.findall(
        r"^(\.venv/bin/.+?)(?: --check)?(?: \.)? \|\| status=1$", (TOP / "scripts" / "lint").read_text(), re.M
    )
    assert entries == linted


def test_the_own_hooks_format_what_is_committed_but_not_what_ruff_excludes(tmp_path: Path) -> None:
    if shutil.which("pre-commit", path=str(HERE)) is None:
        pytest.skip("no pre-commit here")
    git(tmp_path, "init", "-q")
    for name in (HOOKS.name, "pyproject.toml"):
        shutil.copy(TOP / name, tmp_path)
    (tmp_path / ".venv").symlink_to(HERE.parent)
    (tmp_path / "golden").mkdir()
    for name in ("m.py", "golden/m.py"):
        (tmp_path / name).write_text("x = (1)\n")
    git(tmp_path, "add", "m.py", "golden", HOOKS.name)
    environment = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "home")}
    for hook in ("ruff-format", "ruff-check"):
        words = [HERE / "pre-commit", "run", hook, "--all-files"]
        ended = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment)
        assert ("files were modified by this hook" in ended.stdout) == (hook == "ruff-format"), ended.stdout
    assert (tmp_path / "m.py").read_text() == "x = 1\n"
    assert (tmp_path / "golden" / "m.py").read_text() == "x = (1)\n"
