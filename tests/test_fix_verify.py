"""Tests of ``fix --verify`` with a real compiler and torch: it keeps good fixes and names the harmful ones."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from running import git
from symfix.codemods.cli import main_group
from symfix.codemods.commands import check_session, verify
from symfix.codemods.engine.registry import Registry
from symfix.codemods.harness.torch_variant import Harness
from symfix.codemods.torchapi.torch_finder import locate
from symfix.codemods.verify.change import Verification
from symfix.codemods.verify.command import VerifySession
from symfix.codemods.verify.request import VerifyRequest

KERNEL = """\
#include <ATen/core/Tensor.h>
#include <ATen/TensorOperators.h>
#include <c10/util/Exception.h>

namespace at::native {

Tensor trapezoid(const Tensor& y, const Scalar& dx, int64_t dim) {
  const bool there = dim < y.dim() && dim >= -y.dim();
  TORCH_CHECK_INDEX(there, "no dimension ", dim); // exception: TORCH_CHECK_VALUE(there, "no dimension ", dim);
  const auto n = y.sym_size(dim);
  if (n == 1) { // good: if (TORCH_GUARD_OR_FALSE(n.sym_eq(1))) {
    return y.sum(dim) * 3;
  }
  const bool fast = false; // guard: const bool fast = n == 4096;
  const auto area = (y * 3).sum(dim); // bits: const auto area = y.sum(dim) * 3;
  const auto rows = fast || area.dim() == 0 ? c10::SymInt(2) : area.sym_size(0);
  if (rows == 1) { // default: if (TORCH_GUARD_OR_TRUE(rows.sym_eq(1))) {
    return area.narrow(0, 0, 1);
  }
  return area;
}

} // namespace at::native
"""
"""Kernel with another result than torch's, because a change is compared with the file before it."""
MODULE = """

def softmin(input, dim=None, _stacklevel=3, dtype=None):
    from torch.fx.experimental.symbolic_shapes import guard_or_false, guard_or_true

    if dim is None or not -input.dim() <= dim < input.dim():
        raise IndexError(f"no dimension {dim}")  # exception: raise ValueError(f"no dimension {dim}")
    count = input.shape[dim]
    if count == 1:  # good: if guard_or_false(count == 1):
        return input.sum(dim, dtype=dtype) * 3
    if input.dim() == 7:
        count = count + 0  # idle: count = 0 + count
    count = count * 1  # same: count = 1 * count
    fast = False  # guard: fast = count == 4096
    result = (input * 3).sum(dim, dtype=dtype)  # bits: result = input.sum(dim, dtype=dtype) * 3
    rows = 2 if fast or result.dim() == 0 else result.shape[0]
    if rows == 1:  # default: if guard_or_true(rows == 1):
        return result.narrow(0, 0, 1)
    return result
"""
SOME = [("cpp", "default"), ("cpp", "bits"), ("python", "exception"), ("python", "guard")]
EVERY = [(language, kind) for language in ("cpp", "python") for kind in ("default", "exception", "guard", "bits")]
"""Cases with SYMFIX_EVERY_HARM set. They are slow, because each starts a new torch."""


class Tree:
    """Git repository with one file that contains its fixes as notes."""

    def __init__(self, folder: Path, file: Path, text: str, operator: str) -> None:
        self.folder, self.file, self.text, self._operator = folder, folder / file, text, operator
        self.words: tuple[str, ...] = ()
        self.file.parent.mkdir(parents=True)
        self.file.write_text(text)
        git(folder, "init", "-q")
        git(folder, "add", ".")
        git(folder, "commit", "-qm", "before")

    def with_fixes(self, *names: str) -> str:
        lines = []
        for line in self.text.splitlines(keepends=True):
            for name in names:
                for sign in ("//", "#"):
                    code, found, other = line.partition(f" {sign} {name}: ")
                    if found:
                        line = code[: len(code) - len(code.lstrip())] + other
            lines.append(line)
        return "".join(lines)

    def fix(self, *names: str) -> Result:
        """Run ``symfix fix --verify`` with the named rules on the committed tree."""
        self.file.write_text(self.text)
        words = ["fix", "--verify", "--select", ",".join(names), "--op", self._operator]
        words += ["--evidence", str(self.folder / ".git" / "evidence"), *self.words]
        return CliRunner().invoke(main_group, [*words, str(self.file)], standalone_mode=False)


@pytest.fixture(scope="module")
def cpp(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    return Tree(tmp_path_factory.mktemp("cpp"), Path("aten/src/ATen/native/Area.cpp"), KERNEL, "trapezoid")


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """Write the parts of a PyTorch tree that are used."""
    place = locate(None, None)
    text = (place.package / "nn" / "functional.py").read_text() + MODULE
    folder = tmp_path_factory.mktemp("python")
    (folder / "version.txt").write_text(place.version)
    (folder / "aten/src/ATen").mkdir(parents=True)
    (folder / "aten/src/ATen/native").symlink_to(place.native)
    tree = Tree(folder, Path("torch/nn/functional.py"), text, "nn.functional.softmin")
    tree.words = ("--torch-root", str(folder))
    return tree


@pytest.fixture(autouse=True)
def notes(monkeypatch: pytest.MonkeyPatch, ready: Harness) -> None:
    for module in (check_session, verify):
        monkeypatch.setattr(module, "Registry", lambda: Registry(("notewing",)))
    # The second sample of the few that reach the kernel of trapezoid is the last of nine.
    run_verification = verify.run_verification

    def run_few(request: VerifyRequest, session: VerifySession) -> Verification:
        return run_verification(replace(request, samples=9), replace(session, ready=ready))

    monkeypatch.setattr(verify, "run_verification", run_few)


@pytest.mark.parametrize(("language", "kind"), EVERY if "SYMFIX_EVERY_HARM" in os.environ else SOME)
def test_the_good_stays_and_the_harmful_goes(language: str, kind: str, request: pytest.FixtureRequest) -> None:
    tree: Tree = request.getfixturevalue(language)
    answer = tree.fix("good", kind)
    assert answer.return_value == 3, answer.output
    assert f"{kind} is not kept: " in answer.output
    assert "good is not kept" not in answer.output
    assert tree.file.read_text() == tree.with_fixes("good") != tree.text


def test_a_neutral_fix_stays_where_its_lines_were_run(python: Tree) -> None:
    answer = python.fix("same")
    assert "neutral: " in answer.output
    assert "is not kept" not in answer.output
    assert python.file.read_text() == python.with_fixes("same") != python.text


def test_a_neutral_fix_of_a_line_that_nothing_ran_goes_beside_one_that_was_run(python: Tree) -> None:
    answer = python.fix("same", "idle")
    assert answer.return_value == 1, answer.output
    idle = 1 + python.text.splitlines().index("        count = count + 0  # idle: count = 0 + count")
    assert f":{idle}:9: idle is not kept: nothing that was run runs line {idle}" in answer.output
    assert "same is not kept" not in answer.output
    assert python.file.read_text() == python.with_fixes("same") != python.text
