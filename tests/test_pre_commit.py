"""Tests of the hooks of .pre-commit-hooks.yaml with the real pre-commit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from running import MENDED, SHAPES, git
from symfix.codemods.engine.registry import Registry

HOOKS = Path(__file__).parents[1] / ".pre-commit-hooks.yaml"
HERE = Path(sys.executable).parent


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write a project that uses the hooks of another repository."""
    if shutil.which("pre-commit", path=str(HERE)) is None:
        pytest.skip("no pre-commit here")
    hooks, project = tmp_path / "hooks", tmp_path / "project"
    for made in (hooks, project):
        made.mkdir()
        git(made, "init", "-q")
    shutil.copy(HOOKS, hooks)
    git(hooks, "add", HOOKS.name)
    git(hooks, "commit", "-qm", "hooks")
    revision = subprocess.run(["git", "rev-parse", "HEAD"], cwd=hooks, capture_output=True, text=True, check=True)
    ids = [{"id": "symfix-check"}, {"id": "symfix-fix"}]
    config = {"repos": [{"repo": str(hooks), "rev": revision.stdout.strip(), "hooks": ids}]}
    (project / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    (project / "m.py").write_text(SHAPES)
    (project / "notes.txt").write_text("torch._check_is_size\n")
    git(project, "add", "m.py", "notes.txt", ".pre-commit-config.yaml")
    return project


def hook(folder: Path, name: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ, "PRE_COMMIT_HOME": str(folder.parent / "home"),
        "PATH": os.pathsep.join([str(HERE), os.environ["PATH"]]),
    }  # fmt: skip
    return subprocess.run(
        ["pre-commit", "run", name, "--all-files"], cwd=folder, capture_output=True, text=True, check=False,
        env=environment,
    )  # fmt: skip


def test_checking_stops_the_commit_and_fixing_mends_it(folder: Path) -> None:
    checked = hook(folder, "symfix-check")
    assert checked.returncode == 1, checked.stdout + checked.stderr
    assert "m.py:5:5: migrate_check_is_size" in checked.stdout
    assert "1 file, 1 would change" in checked.stdout or "1 files, 1 would change" in checked.stdout
    fixed = hook(folder, "symfix-fix")
    assert "files were modified by this hook" in fixed.stdout, fixed.stdout + fixed.stderr
    assert MENDED in (folder / "m.py").read_text()
    git(folder, "add", "m.py")
    assert hook(folder, "symfix-fix").returncode == 0
    assert hook(folder, "symfix-check").returncode == 0


def test_the_hooks_look_at_what_the_rules_read() -> None:
    for one in yaml.safe_load(HOOKS.read_text()):
        suffixes = one["files"].removeprefix(r"\.(").removesuffix(")$").split("|")
        assert {f".{suffix}" for suffix in suffixes} == Registry().walked(card.name for card in Registry().rules)
