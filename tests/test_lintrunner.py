"""Tests of the adapter with the real lintrunner."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from running import MENDED, SHAPES, git, symfix
from symfix.codemods.model.edit import Edit
from symfix.codemods.model.outcome import Changed, Failed, Outcome, Refused, Unchanged
from symfix.codemods.model.rule import Fix, Safety, Skip
from symfix.codemods.model.source_file import SourceFile
from symfix.codemods.reports.lintrunner import messages

KEYS = {"path", "line", "char", "code", "severity", "name", "original", "replacement", "description"}
LINTRUNNER = shutil.which("lintrunner", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))


def block() -> str:
    """Return the example of docs/use/integrations.md for this interpreter."""
    page = Path(__file__).parents[1] / "docs" / "use" / "integrations.md"
    text = page.read_text(encoding="utf-8")
    start = text.index("[[linter]]")
    example = text[start : text.index("```", start)]
    assert "'python3'" in example
    return example.replace("'python3'", json.dumps(sys.executable))


def lintrunner(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    assert LINTRUNNER is not None
    environment = {**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder / "data")}
    return subprocess.run(
        [LINTRUNNER, *words], cwd=folder, capture_output=True, text=True, check=False, env=environment
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    if LINTRUNNER is None:
        pytest.skip("no lintrunner here")
    git(tmp_path, "init", "-q")
    (tmp_path / ".lintrunner.toml").write_text(block())
    (tmp_path / "m.py").write_text(SHAPES)
    (tmp_path / "n.py").write_text("x = 1\n")
    git(tmp_path, "add", "m.py", "n.py", ".lintrunner.toml")
    git(tmp_path, "commit", "-qm", "first")
    return tmp_path


def test_lintrunner_shows_the_finding_and_applies_the_patch(folder: Path) -> None:
    ended = lintrunner(folder, "--output", "json", "m.py", "n.py")
    assert ended.returncode == 1, ended.stderr
    said = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
    assert {(one["path"].rpartition("/")[2], one["name"], one["code"]) for one in said} == {
        ("m.py", "migrate_check_is_size", "SYMFIX"),
        ("m.py", "symfix fix", "SYMFIX"),
    }
    assert lintrunner(folder, "-a", "m.py", "n.py").returncode in (0, 1)
    assert MENDED in (folder / "m.py").read_text()
    again = lintrunner(folder, "m.py", "n.py")
    assert again.returncode == 0, again.stdout


def adapter(folder: Path, *words: str) -> list[dict[str, object]]:
    ended = subprocess.run(
        [sys.executable, "-m", "symfix.codemods.lintrunner", *words],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return [json.loads(line) for line in ended.stdout.splitlines()]


def test_what_goes_wrong_is_a_message(tmp_path: Path) -> None:
    (wrong,) = adapter(tmp_path, "--select", "no_such_rule", "--", "m.py")
    assert (wrong["path"], wrong["severity"], wrong["name"]) == (None, "error", "symfix failed")
    assert "no_such_rule" in str(wrong["description"])
    (missing,) = adapter(tmp_path, "--", "m.py")
    assert missing["path"] == "m.py"
    (lost,) = adapter(tmp_path, "--", "@paths-that-are-not-there")
    assert lost["path"] is None
    (tmp_path / "empty").write_text("")
    assert adapter(tmp_path, "--", "@empty") == []


def test_what_the_baseline_knows_is_no_message(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(SHAPES)
    assert len(adapter(tmp_path, "--", "m.py")) > 1
    symfix("check", "--write-baseline", "known.json", "m.py", cwd=tmp_path, code=0)
    assert adapter(tmp_path, "--baseline", "known.json", "--", "m.py") == []
    (tmp_path / "pyproject.toml").write_text('[tool.symfix]\nbaseline = "known.json"\n')
    assert adapter(tmp_path, "--", "m.py") == []


def test_one_replacement_for_a_file_and_every_key_in_every_line() -> None:
    source = SourceFile(Path("a.py"), "é = 1\nb = 2\n".encode())
    fixes = [Fix("r", 1, Safety.SAFE, (Edit(at, at + 1, b"x"),), "m") for at in (7, 11)]
    held = Fix("s", 2, Safety.UNSAFE, (Edit(11, 12, b"y"),), "n", default="not empty")
    skip = Skip("s", 1, 7, 8, "held", "d")
    outcomes: list[Outcome] = [
        Changed(source, b"after", tuple(fixes), (held,), (skip,)),
        Unchanged(SourceFile(Path("b.py"), b""), (), (skip,)),
        Refused(Path("c.py"), "generated", "is generated"),
        Failed(Path("d.py"), "RuleBug"),
    ]
    said = [json.loads(line) for line in messages(outcomes)]
    assert all(set(one) == KEYS for one in said)
    assert [(one["path"], one["line"], one["severity"], one["name"]) for one in said] == [
        ("a.py", 2, "warning", "r"),
        ("a.py", 2, "warning", "r"),
        ("a.py", 2, "advice", "s"),
        ("a.py", None, "warning", "symfix fix"),
        ("d.py", None, "error", "symfix failed"),
    ]
    assert [(one["original"], one["replacement"]) for one in said if one["replacement"]] == [
        ("é = 1\nb = 2\n", "after")
    ]
