from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from running import MENDED, SHAPES, git, symfix


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "m.py").write_text(SHAPES)
    (tmp_path / "pkg" / "n.py").write_text("x = 1\n")
    return tmp_path


def test_check_finds_and_writes_nothing(folder: Path) -> None:
    ended = symfix("check", "pkg", cwd=folder, code=1)
    assert ended.stdout.startswith("pkg/m.py:5:5: migrate_check_is_size safe:")
    assert "2 files, 1 would change: 1 fix" in ended.stderr
    assert (folder / "pkg" / "m.py").read_text() == SHAPES
    symfix("check", "pkg/n.py", cwd=folder, code=0)


def test_diff_prints_a_patch_that_git_applies_and_nothing_else(folder: Path) -> None:
    ended = symfix("diff", "pkg", cwd=folder, code=1)
    assert ended.stdout.startswith("diff --git a/pkg/m.py b/pkg/m.py\n")
    subprocess.run(["git", "apply", "-"], input=ended.stdout, text=True, cwd=folder, check=True)
    assert MENDED in (folder / "pkg" / "m.py").read_text()
    assert symfix("diff", "pkg", cwd=folder, code=0).stdout == ""


def test_the_names_in_a_patch_start_at_the_repository(folder: Path) -> None:
    git(folder, "init", "-q")
    assert symfix("diff", "m.py", cwd=folder / "pkg", code=1).stdout.startswith("diff --git a/pkg/m.py b/pkg/m.py\n")


def test_fix_writes_and_a_second_run_changes_nothing(folder: Path) -> None:
    symfix("fix", "--allow-dirty", "pkg", cwd=folder, code=0)
    after = (folder / "pkg" / "m.py").read_text()
    assert MENDED in after
    assert "all clear" in symfix("fix", "--allow-dirty", "pkg", cwd=folder, code=0).stderr
    assert (folder / "pkg" / "m.py").read_text() == after


def test_fix_says_in_json_what_it_applied(folder: Path) -> None:
    document = json.loads(symfix("fix", "--allow-dirty", "pkg", "--format", "json", cwd=folder, code=0).stdout)
    (file,) = document["files"]
    assert (file["path"], file["outcome"], file["fixes"][0]["applied"]) == ("pkg/m.py", "changed", True)
    assert document["torch"][:2] == "2."
    assert document["summary"] == {"files": 2, "changed": 1, "fixes": 1, "skips": 0}


def test_one_process_and_two_print_the_same_bytes(folder: Path) -> None:
    for number in range(12):
        (folder / "pkg" / f"big{number}.py").write_text(SHAPES + "# filler\n" * 3000)
    one, two = (
        symfix("check", "pkg", "--format", "json", "-j", jobs, cwd=folder, code=1, XDG_CACHE_HOME=str(folder / jobs))
        for jobs in ("1", "2")
    )
    assert one.stdout == two.stdout
    assert one.stdout.count('"changed"') == 14


def test_select_and_ignore(folder: Path) -> None:
    symfix("check", "pkg", "--select", "use_sym_min_max,use_sym_eq", cwd=folder, code=0)
    symfix("check", "pkg", "--ignore", "migrate_check_is_size", cwd=folder, code=0)
    symfix("check", "pkg", "--select", "migrate_check_is_size", cwd=folder, code=1)


def test_the_configuration_gives_defaults_that_words_override(folder: Path) -> None:
    (folder / "pyproject.toml").write_text("[tool.symfix]\nignore = ['migrate_check_is_size']\nmin-torch = '2.8'\n")
    symfix("check", "m.py", cwd=folder / "pkg", code=0)
    symfix("check", "pkg", "--ignore", "use_sym_eq", cwd=folder, code=1)
    (folder / "pyproject.toml").write_text("[tool.symfix]\nformat = 'github'\nstatistics = true\njobs = 1\n")
    assert symfix("check", "pkg", cwd=folder, code=1).stdout.startswith("::warning")
    (folder / "other.toml").write_text("[tool.symfix]\nselect = ['use_sym_eq']\n")
    symfix("check", "pkg", "--config", "other.toml", cwd=folder, code=0)


def test_unsafe_fixes_are_held_back_and_said(folder: Path) -> None:
    (folder / "torch").mkdir()
    target = folder / "torch" / "_meta_registrations.py"
    target.write_text(
        "import torch\n\n\ndef f(x: torch.Tensor):\n    if x.numel() == 0:\n        return x\n    return x + 1\n"
    )
    ended = symfix("fix", "--allow-dirty", "torch", "--select", "guard_size_branches", cwd=folder, code=1)
    assert "1 unsafe fix held back: see --unsafe-fixes" in ended.stderr
    assert "guard_or" not in target.read_text()
    symfix("fix", "--allow-dirty", "torch", "--select", "guard_size_branches", "--unsafe-fixes", cwd=folder, code=0)
    assert "if guard_or_false(x.numel() == 0):" in target.read_text()


TWICE = SHAPES + "\n\ndef g(y: torch.Tensor):\n    torch._check_is_size(y.shape[1])\n    return y\n"


@pytest.mark.parametrize(
    ("answers", "first", "second", "code"),
    [
        ("y\ny\n", True, True, 0),
        ("n\ny\n", False, True, 1),
        ("y\nq\n", True, False, 1),
        ("a\n", True, True, 0),
        ("q\n", False, False, 1),
    ],
)
def test_a_person_takes_or_leaves_each_fix(folder: Path, answers: str, first: bool, second: bool, code: int) -> None:
    path = folder / "pkg" / "m.py"
    path.write_text(TWICE)
    ended = symfix("fix", "--allow-dirty", "--interactive", "pkg", cwd=folder, code=code, text=answers)
    assert "-    torch._check_is_size(x.shape[0])\n+    torch._check(x.shape[0] >= 0)" in ended.stderr
    assert ("torch._check(x.shape[0] >= 0)" in path.read_text()) == first
    assert ("torch._check(y.shape[1] >= 0)" in path.read_text()) == second


def test_no_answer_writes_nothing(folder: Path) -> None:
    symfix("fix", "--allow-dirty", "--interactive", "pkg", cwd=folder, code=2, text="")
    assert (folder / "pkg" / "m.py").read_text() == SHAPES


def test_stdin_goes_through(folder: Path) -> None:
    ended = symfix("fix", "--allow-dirty", "-", "--stdin-filename", "pkg/new.py", cwd=folder, code=0, text=SHAPES)
    assert MENDED in ended.stdout
    assert symfix("check", "-", "--stdin-filename", "pkg/new.py", cwd=folder, code=1, text=SHAPES).stdout.startswith(
        "pkg/new.py:5:5:"
    )
    assert "+    " + MENDED in symfix("diff", "-", "--stdin-filename", "n.py", cwd=folder, code=1, text=SHAPES).stdout
    assert not (folder / "pkg" / "new.py").exists()


def test_a_comment_keeps_a_rule_out(folder: Path) -> None:
    path = folder / "pkg" / "m.py"
    path.write_text(SHAPES.replace("[0])\n", "[0])  # symfix: ignore[migrate_check_is_size] old torch\n"))
    assert "left (suppressed): old torch" in symfix("check", "pkg", "--show-left", cwd=folder, code=0).stdout


def test_what_is_left_is_counted_and_shown_when_asked_for(folder: Path) -> None:
    (folder / "pkg" / "m.py").write_text(
        SHAPES.replace("[0])\n", "[0])  # symfix: ignore[migrate_check_is_size] old\n")
    )
    ended = symfix("check", "pkg", cwd=folder, code=0)
    assert ended.stdout == ""
    assert "1 place left with a reason: see --show-left" in ended.stderr
    shown = symfix("check", "pkg", "--show-left", cwd=folder, code=0)
    assert "left (suppressed): old" in shown.stdout
    assert "--show-left" not in shown.stderr
    assert json.loads(symfix("check", "pkg", "--format", "json", cwd=folder, code=0).stdout)["summary"]["skips"] == 1


def test_quiet_prints_results_and_errors_only(folder: Path) -> None:
    ended = symfix("check", "-q", "pkg", cwd=folder, code=1)
    assert ended.stdout.startswith("pkg/m.py:5:5: migrate_check_is_size safe:")
    assert ended.stderr == ""
    assert symfix("diff", "-q", "pkg", cwd=folder, code=1).stderr == ""
    assert "no such file" in symfix("check", "-q", "nowhere.py", cwd=folder, code=2).stderr


def test_nothing_to_say_is_said(folder: Path) -> None:
    assert symfix("check", "pkg/n.py", cwd=folder, code=0).stderr == "all clear: 1 file, nothing to change\n"
    (folder / "empty").mkdir()
    assert "no file to look at" in symfix("check", "empty", cwd=folder, code=0).stderr


def test_statistics_and_github(folder: Path) -> None:
    rows = symfix("check", "pkg", "--statistics", cwd=folder, code=1).stdout
    assert rows.split() == ["1", "migrate_check_is_size", "fix,", "safe"]
    said = symfix("check", "pkg", "--format", "github", cwd=folder, code=1).stdout
    assert said.startswith("::warning file=pkg/m.py,line=5,col=5,title=symfix migrate_check_is_size::")


def test_rule_lists_and_explains(folder: Path) -> None:
    assert "use_sym_sizes" in symfix("rule", cwd=folder, code=0).stdout
    assert "Safety: safe." in symfix("rule", "use_sym_sizes", cwd=folder, code=0).stdout


def test_doctor_names_what_is_here(folder: Path) -> None:
    said = symfix("doctor", cwd=folder, code=0).stdout
    assert "ok       torch: 2." in said
    assert "sandbox: " in said
    bare = symfix("doctor", cwd=folder, code=0, PATH=str(folder)).stdout
    assert "missing  C++ compiler: no C++ compiler: install g++" in bare


def test_verify_compares_with_a_revision(folder: Path) -> None:
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "m")
    assert "nothing" in symfix("verify", "pkg", cwd=folder, code=0).stderr
    (folder / "pkg" / "m.py").write_text("import torch\n")
    said = symfix("verify", cwd=folder, code=1).stdout
    assert said.startswith("unverifiable: ")
    assert "m.py" in said


@pytest.mark.parametrize("command", [["--help"], ["check", "--help"], ["--version"]])
def test_help_imports_no_parser_and_no_torch(command: list[str], folder: Path) -> None:
    script = (
        "import sys\nfrom symfix.codemods.cli import main\n"
        f"sys.argv = ['symfix', *{command!r}]\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        "late = {'torch', 'tree_sitter', 'libcst', 'rich', 'yaml', 'symfix.codemods.engine.run'}\n"
        "print(sorted(late & set(sys.modules)))\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=folder, check=True)
    assert ended.stdout.splitlines()[-1] == "[]"


def test_check_and_diff_import_no_torch(folder: Path) -> None:
    script = (
        "import sys\nfrom symfix.codemods.cli import main\n"
        "sys.argv = ['symfix', 'diff', 'pkg', '-j', '1']\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert end.code == 1\n"
        "print(sorted({'torch', 'torchgen'} & set(sys.modules)))\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=folder, check=True)
    assert ended.stdout.splitlines()[-1] == "[]"


def test_a_bug_is_not_a_finding(folder: Path) -> None:
    script = (
        "import sys\nfrom symfix.codemods import cli\nfrom symfix.codemods.commands import fix\n"
        "def broken(words):\n    raise RuntimeError('oh')\n"
        "fix.check = broken\nsys.argv = ['symfix', 'check', 'pkg']\ncli.main()\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=folder, check=False)
    assert ended.returncode == 2
    assert "RuntimeError: oh" in ended.stderr
    assert ended.stderr.splitlines()[-1].startswith("symfix: this is a bug")


def test_a_reader_that_goes_away_is_no_error(folder: Path) -> None:
    command = f"{sys.executable} -m symfix.codemods.cli rule | head -n 1"
    ended = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=folder, check=True)
    assert ended.stderr == ""
