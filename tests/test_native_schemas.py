"""Tests of the rule for native_functions.yaml, in a small tree that resembles PyTorch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from natives import KERNELS, YAML, write_tree
from running import symfix
from symfix.schemas.analysis.native import DERIVATIVES, FUNCTIONS

pytestmark = pytest.mark.usefixtures("fresh_cache")


def findings(root: Path, tree: Path | None = None, *, code: int = 1) -> list[tuple[int, str, str, str]]:
    """Return the line, function, reason and message of each finding in the tree's yaml. A fix has no reason."""
    words = ("--torch-root", tree or root)
    said = json.loads(symfix("check", "--format", "json", *words, root / FUNCTIONS, cwd=root, code=code).stdout)
    (file,) = said["files"]
    fixes = [(one["edits"][0]["line"], one["function"], "", one["message"]) for one in file["fixes"]]
    return fixes + [(one["line"], one["function"], one["reason"], one["detail"]) for one in file["skips"]]


def test_each_size_is_a_finding_that_is_never_applied(tmp_path: Path) -> None:
    root = write_tree(tmp_path)
    found = findings(root)
    names = {(function, message.partition(":")[2].split()[0]) for _, function, reason, message in found if not reason}
    assert names == {("warp", "rows"), ("warp.out", "rows"), ("crop", "length"), ("pick", "times")}
    lines = YAML.splitlines()
    assert all(lines[line - 1].startswith(f"- func: {function}(") for line, function, _, _ in found)
    assert all("`symfix widen" in message for _, _, reason, message in found if not reason)
    symfix("fix", "--unsafe-fixes", "--allow-dirty", "--torch-root", str(root), root / FUNCTIONS, cwd=root, code=1)
    assert (root / FUNCTIONS).read_text() == YAML


def test_what_is_a_dimension_too_is_left_with_the_place(tmp_path: Path) -> None:
    yaml = YAML + "\n- func: shift(Tensor self, int by) -> Tensor\n"
    kernels = (root := write_tree(tmp_path, yaml=yaml)) / KERNELS
    kernels.write_text(
        kernels.read_text().replace(
            "} // namespace at::native",
            "Tensor shift(const Tensor& self, int64_t by) {\n"
            "  return self.narrow(0, 0, by).sum(self.size(by));\n}\n} // namespace at::native",
        )
    )
    left = [(function, reason, message) for _, function, reason, message in findings(root)]
    ((message,),) = [[message for function, reason, message in left if reason == "not-only-a-size"]]
    assert message.startswith("shift: by is a size") and "it is a dimension" in message


def test_a_changed_kernel_changes_the_answer(tmp_path: Path) -> None:
    root = write_tree(tmp_path)
    before = findings(root)
    kernels = root / KERNELS
    kernels.write_text(kernels.read_text().replace("self.narrow(dim, 0, rows)", "self.narrow(dim, 0, 3)"))
    after = findings(root)
    assert {function for _, function, _, _ in before} - {function for _, function, _, _ in after} == {
        "warp",
        "warp.out",
    }


def test_a_folder_does_not_stand_for_its_yaml(tmp_path: Path) -> None:
    root = write_tree(tmp_path)
    ran = symfix("check", "--format", "json", "--torch-root", root, root / "aten", cwd=root, code=0)
    assert not [one for one in json.loads(ran.stdout)["files"] if one["path"].endswith(".yaml")]


@pytest.mark.parametrize("broken", ["missing", "unreadable"])
def test_what_can_not_be_read_is_one_line(tmp_path: Path, broken: str) -> None:
    root = write_tree(tmp_path)
    if broken == "missing":
        (root / DERIVATIVES).unlink()
    else:
        (root / DERIVATIVES).write_text("- name: crop(Tensor self\n  self: grad\n")
    ((_, _, reason, message),) = findings(root, code=0)
    assert reason == "schema-unclear" and "\n" not in message


def test_another_tree_than_the_one_that_is_named_says_nothing(tmp_path: Path) -> None:
    one, other = write_tree(tmp_path / "one"), write_tree(tmp_path / "other")
    ((_, _, reason, message),) = findings(one, other, code=0)
    assert reason == "schema-unclear" and "--torch-root" in message
