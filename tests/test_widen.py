"""Tests of ``symfix widen``: a patch or written files, errors in one line, and the proof by twins."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from natives import KERNELS, YAML, write_tree
from running import symfix
from symfix.codemods.verify.build.private_kernels import Twin, twin_source
from symfix.codemods.verify.change import Verdict
from symfix.codemods.verify.schema_proof import _judged
from symfix.schemas.analysis.native import FUNCTIONS

ONE = {"graphs": 1, "wrong": ""}
THREE = {"graphs": 3, "wrong": ""}
FAILS = {"graphs": 0, "wrong": "it throws"}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = write_tree(tmp_path / "tree")
    for words in (("init", "-q"), ("add", "-A"), ("-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "tree")):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return folder


def test_it_prints_a_patch_that_git_applies_and_writes_nothing(tree: Path) -> None:
    ended = symfix("widen", "warp", "--torch-root", ".", cwd=tree, code=0)
    assert (tree / FUNCTIONS).read_text() == YAML
    assert "warp becomes warp_symint" in ended.stderr
    subprocess.run(["git", "apply", "-"], input=ended.stdout, text=True, cwd=tree, check=True)
    assert "SymInt rows" in (tree / FUNCTIONS).read_text()
    assert "warp_symint(" in (tree / KERNELS).read_text()


def test_it_writes_all_files(tree: Path) -> None:
    ended = symfix("widen", "crop", "--argument", "length", "--torch-root", ".", "--write", cwd=tree, code=0)
    assert "files written" in ended.stderr
    assert "SymInt length" in (tree / FUNCTIONS).read_text()
    assert "crop_symint(" in (tree / KERNELS).read_text()


def test_without_operators_it_says_what_is_a_size(tree: Path) -> None:
    ended = symfix("widen", "--torch-root", ".", cwd=tree, code=1)
    assert ended.stdout.splitlines() == [
        f"warp: int rows is a size: it becomes the length of narrow, a SymInt, {KERNELS}:11",
        f"warp.out: int rows is a size: it becomes the length of narrow, a SymInt, {KERNELS}:11",
        f"crop: int length is a size: it becomes the length of narrow, a SymInt, {KERNELS}:19",
        f"pick: int times is a size: it becomes the length of narrow, a SymInt, {KERNELS}:29; "
        "left: pick stays on integers: a loop runs as often as the value says",
    ]
    assert "3 arguments can take SymInts, 1 is left" in ended.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nobody",), "native_functions.yaml has no operator 'nobody'"),
        (("warp", "--argument", "self"), "'self' is no int of warp: it has it as Tensor"),
        (("warp", "--argument", "nothing"), "'nothing' is no int of warp: it has none of that name"),
        (("zeros_like_warp",), "nothing says that an int of zeros_like_warp is a size"),
    ],
)
def test_what_is_not_there_is_one_clear_line(words: tuple[str, ...], said: str, tree: Path) -> None:
    assert said in symfix("widen", *words, "--torch-root", ".", cwd=tree, code=2).stderr


def test_a_yaml_that_can_not_be_read_is_one_clear_line(tree: Path) -> None:
    (tree / FUNCTIONS).write_text(YAML.replace("- func: crop(", "- func: crop["))
    ended = symfix("widen", "warp", "--torch-root", ".", cwd=tree, code=2)
    assert "native_functions.yaml:12: a schema starts with" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_it_needs_a_tree(tree: Path) -> None:
    assert "name one with --torch-root" in symfix("widen", "warp", cwd=tree, code=2).stderr


def side(backed: object, unbacked: object, eager: str = "") -> list[dict[str, object]]:
    call = {"call": "n=3", "eager": eager, "backed": backed, "unbacked": unbacked}
    return [{"name": "f", "overload": "", "calls": [call]}]


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (side(THREE, FAILS), side(ONE, ONE), Verdict.PROVEN),
        (side(THREE, THREE), side(ONE, THREE), Verdict.PROVEN),
        (side(THREE, FAILS), side(THREE, FAILS), Verdict.NEUTRAL),
        (side(ONE, ONE), side(ONE, FAILS), Verdict.REGRESSED),
        (side(THREE, THREE), side(FAILS, ONE), Verdict.REGRESSED),
        (side(THREE, FAILS), side(ONE, ONE, "differs"), Verdict.REGRESSED),
        ([{"name": "f", "overload": "", "calls": []}],) * 2 + (Verdict.UNVERIFIABLE,),
    ],
)
def test_the_verdict_of_twins(
    before: list[dict[str, object]], after: list[dict[str, object]], verdict: Verdict
) -> None:
    assert _judged(before, after, []).verdict is verdict


def test_a_twin_is_registered_with_its_schema_and_stands_behind_its_call() -> None:
    twin = Twin("f.out(Tensor x, SymInt n) -> Tensor", "f_symint", "at::Tensor", ("const at::Tensor &", "c10::SymInt"))
    text = twin_source([twin], calls=True)
    assert 'm.def("f.out(Tensor x, SymInt n) -> Tensor");' in text
    assert "at::Tensor f_symint(const at::Tensor &, c10::SymInt);" in text
    assert "at::Tensor at::_ops::f_out::call(const at::Tensor & a0, c10::SymInt a1) {" in text
    assert "_ops" not in twin_source([twin])
