"""Tests of autograd formulas: their definitions in a file, their operators, and replacement in torch by a library."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from symfix.codemods.harness.process_limits import CHILDREN
from symfix.codemods.torchapi.derivatives import operators_by_formula
from symfix.codemods.torchapi.torch_finder import locate
from symfix.codemods.verify.build.compilation import Builder
from symfix.codemods.verify.build.formulas import formula_in, formulas
from symfix.codemods.verify.build.kernel_shim import FORMULA, shim_source
from symfix.codemods.verify.build.toolchain import find_toolchain

FILE = """
#include <ATen/ATen.h>

namespace torch::autograd::generated::details {
at::Tensor cumsum_backward(const at::Tensor& grad, int64_t dim) {
  return at::full_like(grad, 7);
}
at::Tensor of_another_release(const at::Tensor& grad) {
  return grad;
}
} // namespace torch::autograd::generated::details
"""
SCRIPT = """
import sys, torch
sys.path.insert(0, sys.argv[1])
from children.overlay.changed_torch import Kernels
kernels = Kernels(sys.argv[2], int(sys.argv[3]))
x = torch.ones(3, requires_grad=True)
torch.cumsum(x, 0).sum().backward()
print(x.grad.tolist(), kernels.states(), kernels.calls())
"""


def test_the_operators_that_call_a_formula_are_read_from_the_installed_torch() -> None:
    found = operators_by_formula(locate(None, None).package)
    assert {"mm", "addmm"} <= set(found["mm_mat1_backward"])
    assert found["cumsum_backward"] == ("cumsum",)


def test_only_a_file_of_formulas_defines_some() -> None:
    content = FILE.encode()
    named = [(one.kernel, one.operator, one.key) for one in formulas(content, {"cumsum_backward": ("cumsum",)})]
    assert named == [("cumsum_backward", "cumsum", FORMULA), ("of_another_release", "", FORMULA)]
    assert formulas(content.replace(b"generated::details", b"other"), {}) == ()


@pytest.mark.parametrize(
    ("frame", "name"),
    [
        ("torch::autograd::generated::details::mm_mat1_backward(at::Tensor const&, c10::Layout)", "mm_mat1_backward"),
        ("torch::autograd::generated::MmBackward0::apply(std::vector<at::Tensor>&&)", ""),
        ("at::native::cumprod_backward(at::Tensor const&)", ""),
    ],
)
def test_a_formula_is_told_from_other_frames(frame: str, name: str) -> None:
    assert formula_in(frame) == name


def test_torch_runs_the_formula_of_a_library(tmp_path: Path) -> None:
    place = locate(None, None)
    builder = Builder(find_toolchain(place, None), tmp_path, 1)
    wanted = formulas(FILE.encode(), operators_by_formula(place.package))
    sources = {"shim.cpp": shim_source(wanted), "FunctionsManual.cpp": FILE}
    built = [builder.compile(name, text.encode()).result() for name, text in sources.items()]
    linked = builder.link([one.target for one in built if one.target is not None], "formulas").result()
    builder.close()
    assert linked.target is not None, linked.first_error
    arguments = [str(CHILDREN.parent), str(linked.target), str(len(wanted))]
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    missing = "torch has no function of this name and signature"
    assert ran.stdout == f"[7.0, 7.0, 7.0] {['swapped', missing]} [1, 0]\n", ran.stderr
