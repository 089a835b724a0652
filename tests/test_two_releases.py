"""Tests of a PyTorch tree and an installed torch of different releases, and of recognizing a tree."""

from __future__ import annotations

from pathlib import Path

import pytest
from projects import commit
from running import SHAPES, git, symfix
from symfix.codemods.commands import torch_tree
from symfix.codemods.commands.executor import workers
from symfix.codemods.torchapi.torch_finder import installed_version, tree_around

YAML = "- func: weigh(Tensor self, SymInt size) -> Tensor\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Write a source tree with one operator. Running its torchgen creates a file."""
    root = tmp_path / "pytorch"
    native = root / "aten" / "src" / "ATen" / "native"
    native.mkdir(parents=True)
    (native / "native_functions.yaml").write_text(YAML)
    (native / "tags.yaml").write_text("- tag: core\n  desc: |\n    belongs to the core\n")
    (root / "torchgen").mkdir()
    (root / "torchgen" / "gen.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    (root / "torch").mkdir()
    (root / "torch" / "m.py").write_text(SHAPES)
    return root


def released(tree: Path, version: str | None) -> None:
    (tree / "version.txt").write_text(f"{version or installed_version(None)}\n")


def test_a_tree_is_known_by_what_only_it_has(tree: Path) -> None:
    assert tree_around(tree / "torch" / "m.py") is None
    released(tree, "2.6.0a0")
    assert tree_around(tree / "torch" / "m.py") == tree_around(tree) == tree
    assert tree_around(tree.parent) is None


def test_a_checkout_of_the_installed_release_is_taken_by_itself_and_nothing_of_it_is_run(tree: Path) -> None:
    released(tree, f"{installed_version(None)}a0")
    ended = symfix("check", "m.py", "--format", "json", cwd=tree / "torch", code=1)
    assert f'"torch": "{installed_version(None)}a0"' in ended.stdout
    assert "is PyTorch" not in ended.stderr
    assert not (tree.parent / "ran").exists()


def test_another_release_is_said_and_the_installed_one_counts(tree: Path) -> None:
    released(tree, "1.13.0a0")
    ended = symfix("check", "torch", "--format", "json", cwd=tree, code=1)
    said = (
        f"symfix: {tree} is PyTorch 1.13.0a0, the installed torch is {installed_version(None)}: the schemas of that one"
    )
    (line,) = [line for line in ended.stderr.splitlines() if line.startswith(said)]
    assert "--torch-root" in line
    assert f'"torch": "{installed_version(None)}"' in ended.stdout
    assert not (tree.parent / "ran").exists()


def test_named_the_tree_counts_and_it_is_said_too(tree: Path) -> None:
    released(tree, "1.13.0a0")
    ended = symfix("check", "torch", "--torch-root", ".", cwd=tree, code=1, XDG_CACHE_HOME=str(tree.parent / "cache"))
    assert "is PyTorch 1.13.0a0, the installed torch is" in ended.stderr
    assert "the tree's schemas count" in ended.stderr


@pytest.mark.parametrize("words", [["verify", "torch"], ["fix", "--verify", "--allow-dirty", "torch"]])
def test_python_of_another_release_is_not_laid_over_torch_unsaid(tree: Path, words: list[str]) -> None:
    released(tree, "1.13.0a0")
    (tree / "torch" / "n.py").write_text("x = 1\n")
    git(tree, "init", "-q")
    commit(tree, "first")
    (tree / "torch" / "n.py").write_text("x = 2\n")
    said = symfix(*words, cwd=tree, code=1).stderr
    assert said.count("is PyTorch 1.13.0a0, the installed torch is") == 1
    assert "a verification swaps what fits of its C++ and Python into that one" in said.splitlines()[0]


def test_files_of_no_tree_and_of_two_say_nothing(tree: Path) -> None:
    released(tree, "1.13.0a0")
    (tree.parent / "mine.py").write_text(SHAPES)
    git(tree.parent, "init", "-q")
    for paths in (["mine.py"], ["mine.py", "pytorch/torch/m.py"]):
        assert "PyTorch" not in symfix("check", *paths, cwd=tree.parent, code=1).stderr


@pytest.mark.parametrize(("tried", "lines"), [((2, 0), 1), ((99, 0), 0)])
def test_a_newer_release_is_one_line(
    tried: tuple[int, int], lines: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(torch_tree, "NEWEST_TRIED", tried)
    torch_tree.say_untried.cache_clear()
    for _ in range(2):
        with workers(None):
            pass
    torch_tree.say_untried.cache_clear()
    newer = f"symfix: torch {installed_version(None)} is newer than 2.0, the newest that symfix was tried with\n"
    assert capsys.readouterr().err == newer * lines
