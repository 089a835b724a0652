"""Tests of ``verify --diff``: a patch applied in a copy, and the sizes that do not stay symbolic in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from running import git, symfix
from symfix.codemods.engine.registry import Registry
from symfix.codemods.engine.torch_context import TorchSurroundings
from symfix.codemods.model.source_file import SourceFile
from symfix.codemods.reports.proof import remaining
from symfix.codemods.verify.change import Change, RemainingUse
from symfix.codemods.verify.patched_files import BadPatch, patched_files
from symfix.codemods.verify.remaining_uses import remaining_uses
from symfix.cpp.analysis.file import concrete_uses as cpp_uses
from symfix.python.analysis.decisions import concrete_uses as python_uses

KERNEL = """#include <ATen/ATen.h>
namespace at::native {
Tensor f_symint(const Tensor& x, c10::SymInt k) {
  auto first = x.size(0);
  LINE
  return x;
}
} // namespace at::native
"""
FUNCTION = """import math
import torch

def f(x: torch.Tensor, k: int):
    first = int(x.shape[0])
    LINE
    return x
"""
PATCH = """--- a/pkg/mine.py
+++ b/pkg/mine.py
@@ -1,4 +1,4 @@
 from torch import Tensor
 X = 1
 def f(x: Tensor):
-    return x.reshape(x.shape[0], -1)
+    return x.reshape(int(x.shape[0]), -1)
--- /dev/null
+++ b/notes.md
@@ -0,0 +1 @@
+a note
"""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("int64_t n = x.sym_size(0).guard_int(__FILE__, __LINE__);", "makes a constant of the value"),
        ("int64_t n = x.sym_numel();", "converts a SymInt to `int64_t`, which does not compile"),
        ("auto s = C10_AS_INTARRAYREF_SLOW(x.sym_sizes());", "makes a constant of each size"),
        ("auto e = k.expect_int();", "throws for a symbolic size"),
        ("auto z = x.size(1);", "the symbolic twin is `sym_size`"),
        ("if (x.sym_size(1) == 0) { return x + 1; }", "decides a branch"),
        ("int64_t n = 0; n = x.sym_numel();", "`n = x.sym_numel()` converts a SymInt to `int64_t`"),
        ("if (TORCH_GUARD_OR_FALSE(k.sym_eq(0))) { return x + 1; }", "undecided condition for false"),
        ("if (TORCH_GUARD_OR_TRUE(k.sym_ne(0))) { TORCH_CHECK(false, k); }", "TORCH_SYM_CHECK of the condition"),
        ('TORCH_CHECK(x.is_contiguous_or_false(), "no");', "for false where the other side is an error"),
        ('TORCH_CHECK_WITH(Error, TORCH_GUARD_OR_TRUE(k.sym_eq(0)), "no");', "for true where the other side"),
        ('TORCH_CHECK(x.dim() == 2, "size ", k.guard_int(__FILE__, __LINE__));', ""),
        ("TORCH_CHECK_WITH(Error, x.dim() == 2, k.guard_int(__FILE__, __LINE__));", ""),
        ('TORCH_CHECK(k.guard_int(__FILE__, __LINE__) == 2, "no");', "makes a constant of the value"),
        ("auto n = load_or_false(k);", ""),
        ("auto n = x.sym_size(1);", ""),
        ("int64_t d = x.dim();", ""),
    ],
)
def test_a_changed_line_of_cpp_is_reported_where_a_size_becomes_concrete(line: str, said: str) -> None:
    _require_reported(Path("/tree/f.cpp"), KERNEL, "  LINE\n", line, said)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("n = int(x.shape[0])", "makes a constant of the size `x.shape[0]`"),
        ("n = math.floor(x.shape[0] / 2)", "makes a constant of the size"),
        ("n = guard_int(x.shape[0])", "makes a constant of the value"),
        ("x = x + 1 if x.shape[0] == 0 else x", "x.shape[0] == 0"),
        ("x = x + 1 if guard_or_false(x.shape[0] == 0) else x", "takes an undecided condition for false"),
        ("n = x.is_contiguous_or_false()", "takes an undecided condition for false"),
        ("n = load_or_false(k)", ""),
        ("torch._check(guard_or_true(k > 0))", "true where the other side is an error: torch._check of the condition"),
        ("torch._check(x.shape[0] > 2 and k > 2)", "sym_and"),
        ("n = x.shape[0]", ""),
        ("n = int(x.dim())", ""),
        ("n = int('3')", ""),
    ],
)
def test_a_changed_line_of_python_is_reported_where_a_size_becomes_concrete(line: str, said: str) -> None:
    _require_reported(Path("/tree/f.py"), FUNCTION, "    LINE\n", line, said)


def test_a_default_of_a_refusal_or_of_optional_work_has_a_better_way() -> None:
    lines = "    if guard_or_false(x.shape[0] != k):\n        raise ValueError(k)\n"
    assert "for false where the other side is an error" in _told(lines, FUNCTION)
    lines = "    if guard_or_false(x.shape[0] == 1):\n        return x.sum(0)\n"
    assert "statically_known_true" not in _told(lines, FUNCTION)
    assert "statically_known_true is enough" in _told(lines, FUNCTION.replace("return x\n", "return NotImplemented\n"))


def _told(lines: str, text: str) -> str:
    change = Change(
        Path("/tree/f.py"), text.replace("    LINE\n", "").encode(), text.replace("    LINE\n", lines).encode()
    )
    found = remaining_uses([change], TorchSurroundings(all_functions=True, drop_torchscript=True), Registry())
    return "".join(use.detail for use in found if use.changed)


def test_each_use_has_a_reason_and_a_failure_mode() -> None:
    context = TorchSurroundings(all_functions=True).context()
    text = KERNEL.replace("LINE", "int64_t n = x.sym_numel().guard_int(__FILE__, __LINE__);")
    found = list(cpp_uses.concrete_uses(SourceFile(Path("/tree/f.cpp"), text.encode()), context))
    assert {(use.reason, use.mode) for use in found} == {("throws", 1), ("guard", 4)}
    text = FUNCTION.replace("LINE", "second = math.ceil(x.shape[1] / 2)")
    found = list(python_uses.concrete_uses(SourceFile(Path("/tree/f.py"), text.encode()), context))
    assert [(use.reason, use.mode) for use in found] == [("guard", 4), ("guard", 4)]


def _require_reported(path: Path, text: str, gap: str, line: str, said: str) -> None:
    change = Change(path, text.replace(gap, "").encode(), text.replace("LINE", line).encode())
    around = TorchSurroundings(all_functions=True, drop_torchscript=True)
    found = remaining_uses([change], around, Registry())
    there = [use for use in found if use.changed]
    assert [use.line for use in there] == ([text[: text.index("LINE")].count("\n") + 1] if said else [])
    assert said in "".join(use.detail for use in there)
    # `first` is read as before, in the same function.
    assert [use.line for use in found if not use.changed] == [4 if path.suffix == ".cpp" else 5]


def test_a_patch_is_applied_in_a_copy_and_new_files_are_not_judged(tmp_path: Path) -> None:
    top, scratch = tmp_path / "top", tmp_path / "scratch"
    (top / "pkg").mkdir(parents=True)
    scratch.mkdir()
    before = b"from torch import Tensor\nX = 1\ndef f(x: Tensor):\n    return x.reshape(x.shape[0], -1)\n"
    (top / "pkg/mine.py").write_bytes(before)
    found = patched_files(PATCH.encode(), top, scratch, lambda path: path.suffix == ".py")
    (change,) = found.changes
    assert (change.path, change.before) == (top / "pkg/mine.py", before)
    assert change.after == before.replace(b"x.shape[0], -1", b"int(x.shape[0]), -1")
    assert found.others == ("notes.md",)
    assert (top / "pkg/mine.py").read_bytes() == before
    assert not (top / "notes.md").exists()


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        (PATCH.replace("pkg/mine.py", "../outside.py"), "outside"),
        (PATCH.replace("pkg/mine.py", "pkg/absent.py"), "pkg/absent.py: No such file or directory"),
        (PATCH.replace("x.shape[0], -1)\n+", "x.shape[1], -1)\n+"), "patch failed: pkg/mine.py:1"),
        ("no patch at all\n", "No valid patches in input"),
    ],
)
def test_a_patch_that_does_not_apply_is_one_line_and_writes_nothing(tmp_path: Path, patch: str, said: str) -> None:
    top, scratch = tmp_path / "top", tmp_path / "scratch"
    (top / "pkg").mkdir(parents=True)
    scratch.mkdir()
    for name in ("top/pkg/mine.py", "outside.py"):
        (tmp_path / name).write_text(
            "from torch import Tensor\nX = 1\ndef f(x: Tensor):\n    return x.reshape(x.shape[0], -1)\n"
        )
    with pytest.raises(BadPatch) as raised:
        patched_files(patch.encode(), top, scratch, lambda path: path.suffix == ".py")
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)
    assert "int(" not in (tmp_path / "outside.py").read_text()


def test_a_renamed_file_is_not_judged(tmp_path: Path) -> None:
    top, scratch = tmp_path / "top", tmp_path / "scratch"
    top.mkdir()
    scratch.mkdir()
    (top / "old.py").write_text("x = 1\n")
    patch = b"diff --git a/old.py b/new.py\nsimilarity index 100%\nrename from old.py\nrename to new.py\n"
    found = patched_files(patch, top, scratch, lambda path: path.suffix == ".py")
    assert (found.changes, found.others) == ((), ("new.py",))


def test_a_patch_of_new_files_alone_is_no_success(tmp_path: Path) -> None:
    for name, code in (("notes.md", 0), ("mine.py", 1)):
        patch = f"--- /dev/null\n+++ b/{name}\n@@ -0,0 +1 @@\n+x = 1\n"
        told = symfix("verify", "--diff", "-", ".", cwd=tmp_path, code=code, text=patch).stderr
        assert f"not judged: {name}" in told


def test_kernel_code_is_not_reported() -> None:
    kernel = """auto iter = at::TensorIteratorConfig().add_output(x).build();
  const float* data = x.const_data_ptr<float>();
  for (int64_t i = 0; i < x.size(1); i++) { (void)data[i]; }"""
    context = TorchSurroundings(all_functions=True).context()
    text = KERNEL.replace("auto first = x.size(0);", "").replace("LINE", kernel)
    found = list(cpp_uses.concrete_uses(SourceFile(Path("/tree/f.cpp"), text.encode()), context))
    assert [text.encode()[use.start : use.end] for use in found] == []


def test_verify_judges_a_patch_on_the_files_on_disk(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/__init__.py").touch()
    (tmp_path / "pkg/mine.py").write_text(
        "from torch import Tensor\nX = 1\ndef f(x: Tensor):\n    return x.reshape(x.shape[0], -1)\n"
    )
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "x")
    (tmp_path / "change.patch").write_text(PATCH)
    call = "import torch; from pkg.mine import f; f(torch.ones(3, 2, 2))"
    words = ("verify", "--diff", "change.patch", "--call", call, "--format", "json", ".")
    answer = json.loads(symfix(*words, cwd=tmp_path, code=3).stdout)
    assert answer["verdict"] == "regressed"
    (use,) = answer["remaining_uses"]
    assert (use["line"], answer["not_judged"]) == (4, ["notes.md"])
    assert use["changed"] is True
    uses = [RemainingUse(Path(use["path"]), use["line"], use["detail"], changed) for changed in (True, False)]
    lines = "".join(remaining(uses, answer["not_judged"]))
    assert "unchanged, in the same functions\n    mine.py:4: " in lines
    assert "still concrete, or decided\n    mine.py:4: `int(x.shape[0])` makes a constant of the size" in lines
    assert "not judged  notes.md" in lines
    assert "int(" not in (tmp_path / "pkg/mine.py").read_text()
    told = symfix("verify", "--diff", "-", cwd=tmp_path, code=2, text="nonsense").stderr
    assert "--diff -: No valid patches in input" in told


def test_a_file_of_five_megabytes_has_one_answer_and_stays(tmp_path: Path) -> None:
    big = tmp_path / "pkg/mine.py"
    big.parent.mkdir()
    text = "from torch import Tensor\nX = 1\ndef f(x: Tensor):\n    return x.reshape(x.shape[0], -1)\n"
    big.write_text(text + "# A line that is no code.\n" * 200_000)
    patch = PATCH.replace("@@ -1,4 +1,4 @@", "@@ -1,5 +1,5 @@").replace(
        "--- /dev", " # A line that is no code.\n--- /dev"
    )
    told = json.loads(symfix("verify", "--diff", "-", "--format", "json", ".", cwd=tmp_path, code=1, text=patch).stdout)
    assert (told["verdict"], [use["line"] for use in told["remaining_uses"]]) == ("unverifiable", [4])
    assert "int(" not in big.read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["pkg"]
