"""Tests of widening an operator's size to a SymInt: in the yaml, its kernels, their uses, and its formulas."""

from __future__ import annotations

from pathlib import Path

import pytest
from natives import BATCHED, CPP, KERNELS, RULES, YAML, read_tree, write_tree
from symfix.codemods.torchapi import NotATorchTree, TorchError
from symfix.schemas.analysis.native import DERIVATIVES, FUNCTIONS
from symfix.schemas.analysis.size_arguments import sizes
from symfix.schemas.rewrite.eligibility import hindered
from symfix.schemas.rewrite.manual_formulas import DECLARED, DEFINED
from symfix.schemas.rewrite.plan import Plan, plan, texts_after
from symfix.schemas.syntax.entries import EntryError


@pytest.fixture(autouse=True)
def _fresh(fresh_cache: None) -> None:
    """Use a new cache, so that results for one tree are not reused for another."""


def made(folder: Path, asked: dict[str, tuple[str, ...]], **changed: str) -> tuple[Plan, dict[Path, str]]:
    tree = read_tree(write_tree(folder, **changed))
    found = plan(tree, asked)
    return found, {path: after.decode() for path, (_, after) in texts_after(tree, found).items()}


def test_a_family_changes_in_all_of_its_files(tmp_path: Path) -> None:
    found, after = made(tmp_path, {"warp": ("rows",)})
    assert found.widened == {"warp": ("rows",), "warp.out": ("rows",)}
    assert not found.left and not found.kept
    yaml = after[FUNCTIONS]
    assert "- func: warp(Tensor self, SymInt rows, int dim=0) -> Tensor\n" in yaml
    assert "  variants: function, method\n  dispatch:\n    CompositeImplicitAutograd: warp_symint\n\n" in yaml
    assert "  dispatch:\n    CompositeImplicitAutograd: warp_symint_out\n" in yaml
    kept = [line for line in YAML.splitlines() if "warp(" not in line and "warp.out(" not in line]
    assert [line for line in yaml.splitlines() if line in kept and "dispatch:" not in line] == [
        line for line in kept if "dispatch:" not in line
    ], "comments and order stay"
    cpp = after[KERNELS]
    assert "Tensor warp_symint(const Tensor& self, c10::SymInt rows, int64_t dim) {" in cpp
    assert "return self.narrow_symint(dim, 0, rows);" in cpp
    assert "Tensor& warp_symint_out(const Tensor& self, c10::SymInt rows, int64_t dim, Tensor& out) {" in cpp
    assert "at::native::warp_symint(self, rows, dim)" in cpp
    rules = after[BATCHED]
    assert 'm.impl("warp", native::warp_symint);' in rules
    assert "OP_DECOMPOSE(zeros_like_warp);" in rules
    assert "at::native::warp_symint(self, 3, 0)" in rules


def test_keys_on_data_keep_their_kernels_and_formulas_follow_with_what_they_call(tmp_path: Path) -> None:
    found, after = made(tmp_path, {"crop": ("length",)})
    assert "    CompositeExplicitAutograd: crop_symint\n    SparseCPU: crop_sparse\n" in after[FUNCTIONS]
    assert "Tensor crop_sparse(const Tensor& self, int64_t length)" in after[KERNELS]
    formulas = after[DERIVATIVES]
    assert "- name: crop(Tensor self, SymInt length) -> Tensor\n" in formulas
    assert "  self: crop_backward(grad, self.sym_sizes(), length)\n" in formulas
    assert "crop_backward(const Tensor& grad, SymIntArrayRef sizes, c10::SymInt length)" in after[DEFINED].replace(
        "c10::SymIntArrayRef", "SymIntArrayRef"
    )
    assert "c10::SymInt length);" in after[DECLARED]
    assert [one.new for one in found.kernels] == ["crop_symint"]


def test_a_kernel_that_loops_that_often_stays_and_says_why(tmp_path: Path) -> None:
    found, after = made(tmp_path, {"pick": ("times",)})
    ((kernel, reason),) = found.kept.items()
    assert (kernel.old, reason) == ("pick", "a loop runs as often as the value says")
    assert KERNELS not in after
    assert "dispatch:\n    CompositeImplicitAutograd: pick" not in after[FUNCTIONS]


def test_a_kernel_that_is_named_in_another_way_elsewhere_stays(tmp_path: Path) -> None:
    rules = RULES.replace("return at::native::warp(self, 3, 0);", "auto held = &at::native::warp; return self;")
    found, _ = made(tmp_path, {"warp": ("rows",)}, rules=rules)
    assert "BatchRulesWarps.cpp names warp in a way that can't be followed" in " ".join(found.kept.values())


def test_a_missing_source_file_is_one_clear_line(tmp_path: Path) -> None:
    found, _ = made(tmp_path, {"crop": ("length",)}, cpp=CPP.replace("Tensor crop(", "Tensor cropped("))
    assert list(found.kept.values()) == ["no source file of the tree defines it"]


def test_a_kernel_whose_signature_fits_no_schema_is_one_clear_line(tmp_path: Path) -> None:
    cpp = CPP.replace(
        "Tensor crop(const Tensor& self, int64_t length)", "Tensor crop(const Tensor& self, int64_t length, bool ok)"
    )
    found, _ = made(tmp_path, {"crop": ("length",)}, cpp=cpp)
    assert list(found.kept.values()) == [f"no crop of {KERNELS} has the types of its schema"]


@pytest.mark.parametrize(
    ("yaml", "words"),
    [
        (YAML + "\n- func: warp(Tensor self) -> Tensor\n", "warp is defined twice, first in line 7"),
        (YAML.replace("int rows, int dim=0) ->", "int rows int dim=0) ->"), "7: not an argument of a schema"),
        (YAML.replace("- func: crop", "- crop"), "an entry starts with '- func: …'"),
        ("# nothing\n", "no operator is defined here"),
    ],
)
def test_a_yaml_that_can_not_be_read_is_one_clear_line(yaml: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(EntryError) as raised:
        read_tree(write_tree(tmp_path, yaml=yaml))
    assert words in str(raised.value) and "\n" not in str(raised.value)


def test_what_torchgen_refuses_is_said_by_it(tmp_path: Path) -> None:
    yaml = YAML.replace(
        "  variants: function, method\n\n- func: warp.out", "  variants: functional\n\n- func: warp.out"
    )
    tree = read_tree(write_tree(tmp_path, yaml=yaml))
    with pytest.raises(TorchError) as raised:
        plan(tree, {"warp": ("rows",)})
    assert "\n" not in str(raised.value)


def test_a_tree_without_derivatives_is_one_clear_line(tmp_path: Path) -> None:
    (write_tree(tmp_path) / DERIVATIVES).unlink()
    with pytest.raises(NotATorchTree, match=r"has no tools/autograd/derivatives\.yaml"):
        read_tree(tmp_path)


def test_sizes_are_found_by_what_is_done_with_them(tmp_path: Path) -> None:
    tree = read_tree(write_tree(tmp_path))
    found = sizes(tree)
    assert {key for key, one in found.items() if not one.against} == {
        ("warp", "rows"),
        ("warp.out", "rows"),
        ("crop", "length"),
        ("pick", "times"),
    }
    assert found["warp", "rows"].reasons == (f"it becomes the length of narrow, a SymInt, {KERNELS}:11",)
    assert hindered(tree, found) == {"pick": "pick stays on integers: a loop runs as often as the value says"}


def test_what_is_given_a_size_is_one_and_a_dimension_is_none(tmp_path: Path) -> None:
    functions = (
        YAML
        + """
- func: fold(Tensor self, int by, int dim) -> Tensor

- func: folded(Tensor self, int dim) -> Tensor

- func: on_data(Tensor self, int width) -> Tensor
  dispatch:
    CPU: on_data
"""
    )
    kernels = CPP.replace(
        "} // namespace at::native",
        """Tensor fold(const Tensor& input, int64_t by, int64_t dim) {
  return at::folded(at::on_data(input, input.size(0)), dim);
}
Tensor folded(const Tensor& self, int64_t dim) {
  return self.narrow(dim, 0, self.size(maybe_wrap_dim(dim, self.dim())));
}
} // namespace at::native""",
    )
    found = sizes(read_tree(write_tree(tmp_path, yaml=functions, cpp=kernels)))
    assert found["on_data", "width"].reasons[0].startswith("it is given a size of a Tensor")
    assert not found["on_data", "width"].against
    assert ("fold", "by") not in found and ("fold", "dim") not in found and ("folded", "dim") not in found


def test_a_function_of_a_header_takes_symbols_with_the_kernel_that_calls_it(tmp_path: Path) -> None:
    header = KERNELS.with_name("Checks.h")
    checks = """#include <ATen/core/Tensor.h>
namespace at::native {
inline void check_rows(const Tensor& self, int64_t rows) {
  TORCH_CHECK(rows <= self.size(0), rows, " of ", self.size(0));
}
inline void check_rank(const Tensor& self, int64_t rank) {
  static const char* names[] = {"none", "one"};
  TORCH_CHECK(self.dim() == rank, names[rank]);
}
} // namespace at::native
"""
    kernels = CPP.replace(
        "  return self.narrow(dim, 0, rows);", "  check_rows(self, rows);\n  return self.narrow(dim, 0, rows);"
    )
    assert kernels != CPP
    root = write_tree(tmp_path, cpp=kernels)
    (root / header).write_text(checks)
    tree = read_tree(root)
    found = plan(tree, {"warp": ("rows",)})
    after = {path: text.decode() for path, (_, text) in texts_after(tree, found).items()}
    assert not found.kept
    assert "inline void check_rows(const Tensor& self, c10::SymInt rows) {" in after[header]
    assert "rows <= self.sym_size(0)" in after[header]
    assert "check_rank(const Tensor& self, int64_t rank)" in after[header]
    assert "check_rows(self, rows);" in after[KERNELS]


@pytest.mark.parametrize("head", ["C10_HOST_DEVICE inline void", "static constexpr void", "__device__ inline void"])
def test_a_function_for_devices_or_the_compiler_takes_no_symbols(tmp_path: Path, head: str) -> None:
    kernels = CPP.replace(
        "  return self.narrow(dim, 0, rows);", "  look_at(rows);\n  return self.narrow(dim, 0, rows);"
    )
    root = write_tree(tmp_path, cpp=kernels)
    (root / KERNELS.with_name("Checks.h")).write_text(
        f"#include <ATen/core/Tensor.h>\nnamespace at::native {{\n{head} look_at(int64_t rows) {{\n}}\n}}\n"
    )
    found = plan(read_tree(root), {"warp": ("rows",)})
    assert "nothing says that look_at takes a symbolic value" in found.kept.values()


def test_a_kernel_stays_where_the_header_needs_the_integer(tmp_path: Path) -> None:
    kernels = CPP.replace(
        "  return self.narrow(dim, 0, rows);", "  pick_name(rows);\n  return self.narrow(dim, 0, rows);"
    )
    root = write_tree(tmp_path, cpp=kernels)
    (root / KERNELS.with_name("Checks.h")).write_text(
        "namespace at::native {\ninline const char* pick_name(int64_t rows) {\n"
        '  static const char* names[] = {"none", "one"};\n  return names[rows];\n}\n}\n'
    )
    found = plan(read_tree(root), {"warp": ("rows",)})
    assert [reason for one, reason in found.kept.items() if one.old == "warp"] == [
        "nothing says that pick_name takes a symbolic value"
    ]
