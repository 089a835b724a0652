"""PyTorch tree of a few operators, written by us in the style of the real one."""

from __future__ import annotations

from pathlib import Path

from goldens import installed_torch
from symfix.codemods.torchapi.torch_finder import locate
from symfix.schemas.analysis.native import DERIVATIVES, FUNCTIONS, NativeTree, native_tree
from symfix.schemas.rewrite.manual_formulas import DECLARED, DEFINED

KERNELS = Path("aten/src/ATen/native/Warps.cpp")
BATCHED = Path("aten/src/ATen/functorch/BatchRulesWarps.cpp")

YAML = """# The operators of this tree.

- func: zeros_like_warp(Tensor self) -> Tensor  # a comment
  variants: function

# Repeats rows; see warp.out
- func: warp(Tensor self, int rows, int dim=0) -> Tensor
  variants: function, method

- func: warp.out(Tensor self, int rows, int dim=0, *, Tensor(a!) out) -> Tensor(a!)

- func: crop(Tensor self, int length) -> Tensor
  variants: function
  dispatch:
    CompositeExplicitAutograd: crop
    SparseCPU: crop_sparse
  tags: core

- func: narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)
  variants: function, method
  dispatch:
    CompositeImplicitAutograd: narrow_symint

- func: pick(Tensor self, int times) -> Tensor
"""
FORMULAS = """# Derivatives
- name: crop(Tensor self, int length) -> Tensor
  self: crop_backward(grad, self.sizes(), length)

- name: zeros_like_warp(Tensor self) -> Tensor
  self: zeros_like(grad)
"""
CPP = """#include <ATen/ATen.h>

namespace at::native {

Tensor zeros_like_warp(const Tensor& self) {
  return at::zeros_like(self);
}

// Rows of the input, from its start.
Tensor warp(const Tensor& self, int64_t rows, int64_t dim) {
  return self.narrow(dim, 0, rows);
}

Tensor& warp_out(const Tensor& self, int64_t rows, int64_t dim, Tensor& out) {
  return out.copy_(at::native::warp(self, rows, dim));
}

Tensor crop(const Tensor& self, int64_t length) {
  return at::narrow(self, 0, 0, length);
}

Tensor crop_sparse(const Tensor& self, int64_t length) {
  return self;
}

Tensor pick(const Tensor& self, int64_t times) {
  Tensor result = self;
  for (int64_t i = 0; i < times; i++) {
    result = result.narrow(0, 0, times);
  }
  return result;
}

} // namespace at::native
"""
RULES = """#include <ATen/ATen.h>

namespace at::functorch {

TORCH_LIBRARY_IMPL(aten, FuncTorchBatchedDecomposition, m) {
  OP_DECOMPOSE(warp);
  OP_DECOMPOSE(zeros_like_warp);
}

Tensor batched(const Tensor& self) {
  return at::native::warp(self, 3, 0);
}

} // namespace at::functorch
"""
MANUAL = """#include <ATen/ATen.h>

namespace torch::autograd::generated::details {

Tensor crop_backward(const Tensor& grad, IntArrayRef sizes, int64_t length) {
  return at::narrow(grad, 0, 0, length);
}

} // namespace torch::autograd::generated::details
"""
MANUAL_HEADER = """#pragma once
#include <ATen/ATen.h>

namespace torch::autograd::generated::details {

Tensor crop_backward(const Tensor& grad, IntArrayRef sizes, int64_t length);

} // namespace torch::autograd::generated::details
"""


def write_tree(folder: Path, **changed: str) -> Path:
    """Write the tree. Keywords replace the texts of files: ``yaml``, ``formulas``, ``cpp``, ``rules``."""
    api = installed_torch()
    texts = {
        Path("version.txt"): api.version,
        FUNCTIONS: changed.get("yaml", YAML),
        FUNCTIONS.with_name("tags.yaml"): "- tag: core\n  desc: |\n    Core operators.\n",
        DERIVATIVES: changed.get("formulas", FORMULAS),
        KERNELS: changed.get("cpp", CPP),
        BATCHED: changed.get("rules", RULES),
        DEFINED: MANUAL,
        DECLARED: MANUAL_HEADER,
    }
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def read_tree(folder: Path) -> NativeTree:
    """Return the parsed tree that `write_tree` wrote."""
    return native_tree(locate(folder, None))
