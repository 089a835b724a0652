"""Tests that reading a tree executes nothing from it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from running import MENDED, SHAPES, git, symfix
from symfix.codemods.system import config, repository
from symfix.codemods.system.config import ConfigError, Kind, Settings, load
from symfix.codemods.torchapi import TorchApi, TorchgenFailed, TorchMissing
from symfix.codemods.torchapi.torch_finder import TorchInstallation, locate

KNOWN: dict[str, Kind] = {
    "torch_python": "path", "torch_root": "path", "min_torch": "text", "jobs": "number", "build": "commands",
    "test": "commands", "sandbox": "text",
}  # fmt: skip
YAML = "- func: weigh(Tensor self, SymInt size) -> Tensor\n"


class Trap:
    """Code that creates a file when it is run."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace
        self.python = f"open({str(trace)!r}, 'a').write(__file__)\n"

    def script(self, path: Path) -> Path:
        path.write_text(f'#!/bin/sh\necho run >> {self.trace}\nexec {sys.executable} "$@"\n')
        path.chmod(0o755)
        return path

    @property
    def sprung(self) -> bool:
        return self.trace.exists()


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    return Trap(tmp_path / "trace")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the user's own configuration."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    (tmp_path / "home" / "symfix").mkdir(parents=True)
    return tmp_path / "home" / "symfix"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "m.py").write_text(SHAPES)
    return folder


def table(folder: Path, text: str) -> Path:
    file = folder / "pyproject.toml"
    file.write_text(f"[tool.symfix]\n{text}\n")
    return file


def torch_tree(root: Path, trap: Trap, version: str) -> Path:
    """Write a source tree whose torchgen is a trap."""
    native = root / "aten" / "src" / "ATen" / "native"
    native.mkdir(parents=True)
    (native / "native_functions.yaml").write_text(YAML)
    (native / "tags.yaml").write_text("- tag: core\n  desc: |\n    belongs to the core\n")
    (root / "version.txt").write_text(version)
    (root / "torchgen").mkdir()
    (root / "torchgen" / "__init__.py").write_text("")
    (root / "torchgen" / "gen.py").write_text(trap.python)
    return root


@pytest.mark.parametrize("command", [["check"], ["diff"], ["fix", "--allow-dirty"], ["verify"], ["doctor"]])
@pytest.mark.parametrize("typed", [False, True])
def test_a_project_names_no_interpreter(project: Path, trap: Trap, command: list[str], typed: bool) -> None:
    trap.script(project / "evil.sh")
    table(project, "torch-python = 'evil.sh'")
    words = [*command, *(["--config", "pyproject.toml"] if typed else []), *([] if command == ["doctor"] else ["m.py"])]
    ended = symfix(*words, cwd=project, code=2)
    assert "can't say what is run; say --torch-python" in ended.stderr
    assert not trap.sprung


def test_nor_a_torch(project: Path, trap: Trap) -> None:
    torch_tree(project / "tree", trap, "1.0.0")
    table(project, "torch-root = 'tree'")
    assert "say --torch-root" in symfix("check", "m.py", cwd=project, code=2).stderr
    assert not trap.sprung


def test_the_trap_works(project: Path, trap: Trap) -> None:
    evil = trap.script(project / "evil.sh")
    symfix("check", "m.py", "--torch-python", evil, cwd=project, code=1)
    assert trap.sprung


def test_the_users_own_file_may_name_an_interpreter(project: Path, home: Path, trap: Trap) -> None:
    trap.script(home / "python.sh")
    (home / "config.toml").write_text("torch-python = 'python.sh'\n")
    symfix("check", "m.py", cwd=project, code=1)
    assert trap.sprung


@pytest.mark.parametrize(
    ("open_up", "said"),
    [
        (lambda home: (home / "config.toml").chmod(0o666), "others can write it"),
        (lambda home: home.chmod(0o777), "others can write its folder"),
    ],
)
def test_not_when_others_can_write_it(
    project: Path, home: Path, trap: Trap, open_up: Callable[[Path], None], said: str
) -> None:
    trap.script(home / "python.sh")
    (home / "config.toml").write_text("torch-python = 'python.sh'\n")
    open_up(home)
    assert f"{home / 'config.toml'}: {said}" in symfix("check", "m.py", cwd=project, code=1).stderr
    assert not trap.sprung


def test_the_commands_of_a_project_run_when_a_person_names_its_file(project: Path, trap: Trap) -> None:
    git(project, "init", "-q")
    git(project, "add", ".")
    git(project, "commit", "-qm", "first")
    (project / "m.py").write_text(SHAPES + "\n")
    table(project, f"test = \"sh -c 'echo run >> {trap.trace}'\"")
    for command in (["check", "m.py"], ["diff", "m.py"], ["fix", "--allow-dirty", "m.py"]):
        assert "not run" not in symfix(*command, cwd=project, code=0 if command[0] == "fix" else 1).stderr
    said = symfix("verify", "m.py", cwd=project, code=1).stderr
    assert f"its test is not run; --config {project / 'pyproject.toml'} runs them" in said
    assert not trap.sprung


def test_folders_of_the_user_are_not_in_the_tree(project: Path, trap: Trap) -> None:
    (project / "conf" / "symfix").mkdir(parents=True)
    trap.script(project / "conf" / "symfix" / "evil.sh")
    (project / "conf" / "symfix" / "config.toml").write_text("torch-python = 'evil.sh'\n")
    symfix("check", "m.py", cwd=project, code=1, XDG_CONFIG_HOME="conf", XDG_CACHE_HOME="cache")
    assert not trap.sprung
    assert not (project / "cache").exists()


def loaded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    repository.top.cache_clear()
    monkeypatch.chdir(folder)
    return load(None, KNOWN)


def test_a_file_above_the_repository_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = tmp_path / "repository" / "pkg"
    inside.mkdir(parents=True)
    table(tmp_path, "jobs = 3")
    assert loaded(inside, monkeypatch).options == {"jobs": 3}
    (tmp_path / "repository" / ".git").mkdir()
    assert loaded(inside, monkeypatch).options == {}
    table(tmp_path / "repository", "jobs = 4")
    assert loaded(inside, monkeypatch).options == {"jobs": 4}


def test_somebody_elses_file_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = table(tmp_path, "jobs = 3")
    monkeypatch.setattr(config.os, "geteuid", lambda: os.getuid() + 1)
    settings = loaded(tmp_path, monkeypatch)
    assert settings.options == {}
    assert settings.passed_over == (f"{file}: belongs to somebody else: not read; --config {file} reads it",)
    assert load(file, KNOWN).options == {"jobs": 3}


def test_the_project_goes_over_the_user(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "config.toml").write_text("jobs = 1\nmin-torch = '2.8'\n")
    table(tmp_path, "jobs = 3")
    assert loaded(tmp_path, monkeypatch).options == {"jobs": 3, "min_torch": "2.8"}
    (home / "config.toml").write_text("sandbox = 'require'\n")
    table(tmp_path, "sandbox = 'try'")
    assert loaded(tmp_path, monkeypatch).options == {"sandbox": "require"}
    (home / "config.toml").write_text("jbos = 1\n")
    with pytest.raises(ConfigError, match=r"config\.toml: .*do you mean 'jobs'"):
        load(None, KNOWN)


def test_a_configuration_nested_too_deep_is_one_line(project: Path) -> None:
    table(project, f"select = {'[' * 100_000}")
    ended = symfix("check", "m.py", cwd=project, code=2)
    assert "pyproject.toml: is nested too deep" in ended.stderr


# Code that --torch-root runs.


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> TorchInstallation:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return locate(None, None)


def test_a_tree_of_the_installed_release_is_read_without_its_code(
    place: TorchInstallation, tmp_path: Path, trap: Trap
) -> None:
    tree = torch_tree(tmp_path / "tree", trap, f"{place.version}a0")
    assert TorchApi.load(tree).functions("weigh_symint")
    assert not trap.sprung


def test_the_torchgen_of_another_release_runs_unless_it_is_refused(
    place: TorchInstallation, tmp_path: Path, trap: Trap
) -> None:
    tree = torch_tree(tmp_path / "tree", trap, "1.0.0")
    api = TorchApi.at(locate(tree, None, tree_code=False))
    assert api.functions("weigh_symint")
    assert not trap.sprung
    TorchApi.load(tree)
    assert trap.sprung


def test_what_the_installed_torchgen_can_not_read_is_left(place: TorchInstallation, project: Path, trap: Trap) -> None:
    tree = torch_tree(project / "tree", trap, "1.0.0")
    (tree / "aten/src/ATen/native/native_functions.yaml").write_text(YAML.replace("SymInt", "Dimnome"))
    with pytest.raises(TorchgenFailed, match="without --installed-torchgen runs the tree's own"):
        TorchApi.at(locate(tree, None, tree_code=False))
    words = ("check", "--installed-torchgen", "--torch-root", "tree", "m.py")
    ended = symfix(*words, cwd=project, code=2)
    assert "the installed torchgen does not read torch 1.0.0" in ended.stderr
    assert not trap.sprung
    assert "torchgen is run" in " ".join(symfix("check", "--help", cwd=project, code=0).stdout.split())


# Modules are not imported from the current folder.


MODULES = ("click", "platformdirs", "contextlib", "yaml", "json", "torchgen", "tree_sitter", "tomllib", "filelock")


def plant(folder: Path, trap: Trap) -> None:
    for name in MODULES:
        (folder / f"{name}.py").write_text(trap.python)
    (folder / "torch").mkdir()
    for name in ("__init__.py", "version.py"):
        (folder / "torch" / name).write_text(trap.python)
    torch_tree(folder / "src", trap, "1.0.0")
    shutil.move(folder / "src" / "torchgen", folder / "torchgen")


@pytest.mark.parametrize("module", ["symfix.codemods.cli", "symfix.codemods.lintrunner"])
@pytest.mark.parametrize("flags", [[], ["-I"], *([["-P"]] if sys.version_info >= (3, 11) else [])])
def test_a_module_beside_the_code_is_not_imported(project: Path, trap: Trap, module: str, flags: list[str]) -> None:
    plant(project, trap)
    words = ["check", "m.py"] if module.endswith("cli") else ["--", "m.py"]
    ended = subprocess.run(
        [sys.executable, *flags, "-m", module, *words], cwd=project, capture_output=True, text=True, check=False
    )
    assert "migrate_check_is_size" in ended.stdout, ended.stderr
    assert not trap.sprung


def test_nor_by_another_interpreter(project: Path, trap: Trap, tmp_path: Path) -> None:
    plant(project, trap)
    other = tmp_path / "python"
    other.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    other.chmod(0o755)
    symfix("check", "--torch-python", other, "m.py", cwd=project, code=1)
    assert not trap.sprung


def test_the_documented_command_takes_no_symfix_from_the_folder(project: Path, trap: Trap) -> None:
    (project / "symfix" / "codemods").mkdir(parents=True)
    for name in ("__init__.py", "codemods/__init__.py", "codemods/lintrunner.py"):
        (project / "symfix" / name).write_text(trap.python)
    (project / "runpy.py").write_text(trap.python)
    page = (Path(__file__).parents[1] / "docs" / "use" / "integrations.md").read_text(encoding="utf-8")
    line = next(line for line in page.splitlines() if line.startswith("command = "))
    words = [sys.executable, *[word.strip("' ") for word in line.partition("[")[2].rstrip("]").split(",")][1:-1]]
    ended = subprocess.run([*words, "m.py"], cwd=project, capture_output=True, text=True, check=True)
    assert MENDED in ended.stdout
    assert not trap.sprung


def test_a_torch_in_the_current_folder_is_not_the_installed_one(
    project: Path, trap: Trap, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(project, trap)
    (project / "torch" / "version.py").write_text("__version__ = '2.13.0'\n")
    monkeypatch.chdir(project)
    monkeypatch.setattr(sys, "path", [entry for entry in ["", *sys.path] if not entry.endswith("-packages")])
    monkeypatch.setattr(sys, "meta_path", [finder for finder in sys.meta_path if isinstance(finder, type)])
    with pytest.raises(TorchMissing):
        locate(None, None)


def test_git_starts_no_program_that_a_repository_names(project: Path, trap: Trap) -> None:
    git(project, "init", "-q")
    git(project, "add", ".")
    git(project, "commit", "-qm", "first")
    git(project, "config", "core.fsmonitor", str(trap.script(project.parent / "monitor.sh")))
    symfix("check", "m.py", cwd=project, code=1)
    symfix("diff", "m.py", cwd=project, code=1)
    symfix("fix", "m.py", cwd=project, code=0)
    assert not trap.sprung
