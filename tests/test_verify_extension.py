"""Tests of a user's own project, which is built and tested before and after in copies, and is not modified."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from proofs import verify
from running import git, symfix
from symfix.codemods.harness.process_limits import Limits, run
from symfix.codemods.torchapi.torch_finder import locate
from symfix.codemods.verify.change import Change, Verdict, Verification
from symfix.codemods.verify.project.extension import Memory
from symfix.codemods.verify.project.extension_tests import ExtensionTest, Ran, compare_runs
from symfix.codemods.verify.project.extension_trees import NoProject, find_project, plant

TOP = Path(__file__).parents[1]
EXTENSION = TOP / "examples" / "extension"
HARMFUL = TOP / "golden" / "extension" / "harmful"
SOURCE = "csrc/windows.cpp"


@pytest.fixture
def extension(tmp_path: Path) -> Path:
    """Copy the extension of the examples into its own repository."""
    project = tmp_path / "windows"
    shutil.copytree(EXTENSION, project)
    commit(project)
    return project


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Write a pure Python project of a module and its tests."""
    place = tmp_path / "project"
    (place / "tests").mkdir(parents=True)
    (place / "pyproject.toml").write_text("[project]\nname = 'answer'\nversion = '1'\n")
    (place / "answer.py").write_text("VALUE = 41\nOTHER = 1\n")
    (place / "tests" / "test_answer.py").write_text(
        "import answer\ndef test_value(): assert answer.VALUE == 42\n\ndef test_other(): assert answer.OTHER == 1\n"
    )
    return place


def commit(project: Path) -> None:
    git(project, "init", "-q")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "as it was")


def contents(project: Path) -> dict[str, bytes]:
    files = (path for path in project.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {path.relative_to(project).as_posix(): path.read_bytes() for path in files}


def changed(project: Path, after: str, **options: Any) -> Verification:
    """Return the verification of another text of ``answer.py`` by the project's tests."""
    module = project / "answer.py"
    change = Change(module, module.read_bytes(), after.encode())
    words: dict[str, Any] = {"tests": ["python -m pytest -q tests"], "evidence_folder": project.parent / "evidence"}
    return verify([change], **(words | options))


@pytest.mark.usefixtures("quick_builds")
def test_a_mended_extension_is_proven_by_its_own_tests(extension: Path) -> None:
    before = contents(extension)
    ended = symfix("fix", "--verify", "--config", "pyproject.toml", "--all-functions", ".", cwd=extension, code=0)
    said = [line for line in ended.stderr.splitlines() if not line.startswith("symfix: ")]  # no progress
    assert said[0].startswith("proven: case tests/test_windows.py::test_is_compiled_once_for_any_size")
    assert "Constraints violated (L['x'].size()[0])" in " ".join(ended.stderr.split())
    after = contents(extension)
    assert {name for name in after if after[name] != before.get(name)} == {SOURCE}
    assert b"at::empty_symint(x.sym_sizes(), x.options())" in after[SOURCE]


@pytest.mark.usefixtures("quick_builds")
def test_a_fix_that_a_test_speaks_against_is_taken_back(extension: Path) -> None:
    shutil.copyfile(HARMFUL / "windows.cpp", extension / SOURCE)
    shutil.copyfile(HARMFUL / "test_windows.py", extension / "tests" / "test_windows.py")
    git(extension, "commit", "-qam", "one column alone")
    before = contents(extension)
    ended = symfix("fix", "--verify", "--config", "pyproject.toml", "--unsafe-fixes", ".", cwd=extension, code=3)
    assert "use_guard_or is not kept: case tests/test_windows.py::test_a_length_that_is_not_known" in ended.stderr
    assert contents(extension) == before


def test_a_test_that_begins_to_pass_proves_a_python_change(project: Path) -> None:
    commit(project)
    before = contents(project)
    answer = changed(project, "VALUE = 42\nOTHER = 1\n")
    assert answer.verdict is Verdict.PROVEN
    whole, case = answer.checks
    assert (whole.before.message, whole.after.message) == ("1 pass, 1 fail", "2 pass")
    assert (case.subject, case.before.message) == (
        "tests/test_answer.py::test_value",
        "assert 41 == 42 + where 41 = answer.VALUE",
    )
    assert contents(project) == before


@pytest.mark.parametrize("environment", [{}, {"PYTEST_PLUGINS": "hypothesis"}])
def test_cases_are_told_where_pytest_loads_no_plugins_of_itself(
    environment: dict[str, str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **environment}.items():
        monkeypatch.setenv(name, value)
    answer = changed(project, "VALUE = 42\nOTHER = 1\n")
    assert [check.subject for check in answer.checks if check.protocol == "case"] == [
        "tests/test_answer.py::test_value"
    ]
    # If the plugin is named although pytest loads it anyway, each case is reported once.
    words = "unset PYTEST_DISABLE_PLUGIN_AUTOLOAD; PYTEST_PLUGINS=symfix_watching python -m pytest -q tests"
    again = changed(project, "VALUE = 42\nOTHER = 1\n", tests=[words])
    assert (again.verdict, again.checks[0].after.message) == (Verdict.PROVEN, "2 pass")


def test_a_test_that_ceases_to_pass_is_a_regression(project: Path) -> None:
    answer = changed(project, "VALUE = 41\nOTHER = 2\n")
    assert answer.verdict is Verdict.REGRESSED
    assert answer.reason.startswith("case tests/test_answer.py::test_other passed before and fails after")
    assert [check.subject for check in answer.checks if not check.before.passed] == ["tests/test_answer.py::test_value"]


def test_a_crash_names_the_test_it_happened_in(project: Path) -> None:
    (project / "answer.py").write_text("import os\nOTHER = 1\ndef __getattr__(name):\n    os.kill(os.getpid(), 11)\n")
    answer = changed(project, "VALUE = 42\nOTHER = 1\n")
    assert answer.verdict is Verdict.PROVEN
    told = {check.subject: check.before for check in answer.checks if check.protocol == "case"}
    assert told["tests/test_answer.py::test_value"].crashed
    assert told["tests/test_answer.py::test_value"].message == "ended by signal SIGSEGV"


@pytest.mark.parametrize(
    ("before", "after", "difference"),
    [
        ("passed", "failed", "lost"),
        ("passed", "skipped", "lost"),
        ("passed", None, "lost"),
        ("passed", "xfailed", "lost"),
        ("skipped", "failed", "lost"),
        (None, "failed", "lost"),
        ("collected", "failed", "lost"),
        ("failed", "passed", "gained"),
        ("crashed", "passed", "gained"),
        ("xfailed", "passed", "gained"),
        ("failed", "collected", "gained"),
        ("failed", "skipped", None),
        ("failed", None, None),
        ("failed", "failed", None),
        ("skipped", "passed", None),
        (None, "passed", None),
        ("collected", None, None),
    ],
)
def test_what_became_of_a_case(before: str | None, after: str | None, difference: str | None) -> None:
    sides = [
        {"other": ExtensionTest("passed")} | ({"case": ExtensionTest(outcome)} if outcome else {})
        for outcome in (before, after)
    ]
    was, now = (Ran(0, None, "", "", 1.0, cases) for cases in sides)
    checks = compare_runs("pytest", was, now)[1:]
    assert ["lost" if check.lost else "gained" for check in checks if check.lost or check.gained] == (
        [difference] if difference else []
    )


def test_a_command_that_dies_takes_its_cases_along() -> None:
    was = Ran(1, None, "", "", 1.0, {"good": ExtensionTest("passed"), "bad": ExtensionTest("failed")})
    now = Ran(-9, "ended by signal SIGKILL", "ended by signal SIGKILL", "", 1.0, {})
    lost = [check for check in compare_runs("pytest", was, now) if check.lost]
    assert [(check.subject, check.after.message) for check in lost] == [("good", "ended by signal SIGKILL")]


def test_an_expected_failure_that_passes_is_a_gain(project: Path) -> None:
    mark = "import pytest\n@pytest.mark.xfail(strict=True)\n"
    test = project / "tests" / "test_answer.py"
    test.write_text(mark + "def test_sum():\n    import answer\n    assert answer.VALUE + answer.OTHER == 43\n")
    assert changed(project, "VALUE = 42\nOTHER = 1\n").verdict is Verdict.PROVEN


def test_a_difference_that_does_not_come_again_is_no_proof(project: Path) -> None:
    # All runs of one side have the same folder for temporary files.
    test = project / "tests" / "test_answer.py"
    lines = "import answer, pathlib, tempfile\nmarker = pathlib.Path(tempfile.gettempdir(), 'seen')\n"
    lines += "def test_value():\n    if answer.VALUE == 41 and not marker.exists():\n"
    test.write_text(lines + "        marker.touch()\n        assert False, 'the first time'\n")
    answer = changed(project, "VALUE = 42\nOTHER = 1\n")
    assert answer.verdict is Verdict.UNVERIFIABLE
    assert [check.flaky for check in answer.checks if check.protocol == "case"] == [True]


def test_a_command_without_pytest_is_judged_by_its_exit_code(project: Path) -> None:
    answer = changed(project, "VALUE = 42\nOTHER = 1\n", tests=["python -c 'import answer; assert answer.VALUE == 42'"])
    assert answer.verdict is Verdict.PROVEN
    assert "AssertionError" in answer.reason


def test_what_a_test_never_loads_is_not_proven(project: Path) -> None:
    answer = changed(project, "VALUE = 42\nOTHER = 1\n", tests=["python -c pass"])
    assert (answer.verdict, answer.reason) == (
        Verdict.UNVERIFIABLE,
        "nothing that was run reaches the changed code",
    )


def test_a_build_that_fails_before_is_named(project: Path) -> None:
    answer = changed(project, "VALUE = 42\n", builds=["echo 'x.cpp:1:1: error: no such thing' >&2; exit 1"])
    assert answer.verdict is Verdict.BROKEN_BASELINE
    assert answer.reason == "the project does not build before the change: x.cpp:1:1: error: no such thing"


def test_a_build_that_fails_afterwards_is_a_regression(project: Path) -> None:
    answer = changed(project, "VALUE = 42\n", builds=["grep -q OTHER answer.py"])
    assert answer.verdict is Verdict.REGRESSED


def test_an_endless_command_is_stopped(project: Path) -> None:
    answer = changed(project, "VALUE = 42\n", builds=["sleep 300"], timeout=2)
    assert answer.verdict is Verdict.BROKEN_BASELINE
    assert "stopped after 2 s" in answer.reason


def test_what_is_installed_in_the_copy_is_what_the_tests_find(project: Path) -> None:
    build = "cp answer.py $(python -c 'import sysconfig; print(sysconfig.get_path(\"purelib\"))')/installed_answer.py"
    test = "python -c 'import installed_answer, sys; sys.exit(installed_answer.VALUE != 42)'"
    assert changed(project, "VALUE = 42\n", builds=[build], tests=[test]).verdict is Verdict.PROVEN


def test_tests_of_the_checkout_itself_prove_nothing(project: Path) -> None:
    script = project.parent / "outside.py"
    script.write_text(f"import sys\nsys.path.insert(0, {str(project)!r})\nimport answer\n")
    answer = changed(project, "VALUE = 42\n", tests=[f"python {script}"])
    assert answer.verdict is Verdict.UNVERIFIABLE
    assert answer.reason == "the tests load answer.py of the project itself, not of the copy that was built"


def test_a_side_that_was_run_is_not_run_again(project: Path) -> None:
    memory: Memory = {}
    for number in (42, 43):
        changed(project, f"VALUE = {number}\n", tests=["python -c 'import answer'"], memory=memory)
    before, *afters = memory.values()
    assert len(afters) == 2
    assert [len(runs) for runs in before.runs.values()] == [1]


def test_only_what_git_does_not_ignore_is_copied(project: Path, tmp_path: Path) -> None:
    (project / ".gitignore").write_text("*.log\n")
    commit(project)
    (project / "noise.log").write_text("noise")
    (project / "new.py").write_text("")
    (project / "tests" / "link").symlink_to("../answer.py")
    found = find_project([project / "answer.py"])
    assert (found.top, found.folder) == (project, project)
    names = {path.as_posix() for path in found.files()}
    assert {"answer.py", "new.py", "tests/link"} <= names
    assert "noise.log" not in names
    tree = plant(found, tmp_path / "copy", locate(None, None).python)
    tree.write(project / "tests" / "link", b"through a link")
    assert (project / "answer.py").read_text().startswith("VALUE = 41")
    assert (tree.top / "answer.py").read_text() == "through a link"
    ended = run(["git", "describe", "--always"], scratch=tmp_path, limits=Limits(wall=60), cwd=tree.folder)
    assert ended.code == 0


def test_a_tree_of_torch_is_no_project(project: Path) -> None:
    (project / "aten" / "src" / "ATen").mkdir(parents=True)
    answer = changed(project, "VALUE = 42\n")
    assert answer.verdict is Verdict.UNVERIFIABLE
    assert "name its tree with --torch-root" in answer.reason


def test_files_of_no_project_have_no_copy(tmp_path: Path) -> None:
    with pytest.raises(NoProject, match=r"in no repository, and no pyproject.toml"):
        find_project([tmp_path / "alone.py"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--build", "true"], "--build alone proves nothing"),
        (["--build", "true", "--op", "add"], "--op names torch's"),
        (["--build", "true", "--call", "f"], "--call has to end with a call"),
    ],
)
def test_words_that_contradict_each_other(project: Path, words: list[str], message: str) -> None:
    commit(project)
    (project / "answer.py").write_text("VALUE = 42\n")
    assert message in symfix("verify", *words, cwd=project, code=2).stderr


def test_the_commands_stand_in_the_configuration(project: Path) -> None:
    commands = "build = 'echo built, too'\ntest = ['python -m pytest -q tests']\n"
    (project / "pyproject.toml").write_text(f"[tool.symfix]\n{commands}")
    commit(project)
    (project / "answer.py").write_text("VALUE = 42\nOTHER = 1\n")
    ended = symfix("verify", "--config", "pyproject.toml", cwd=project, code=0)
    assert ended.stdout.startswith("proven: case tests/test_answer.py::test_value failed before")
    assert "echo built, too" in ended.stdout
