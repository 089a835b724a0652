// symfix-golden: path=csrc/pairs.cpp
#include <ATen/core/Tensor.h>
#include <torch/library.h>

namespace pairs {

static at::Tensor flat_anyway(const at::Tensor& self) {
  return self.view_symint({self.sym_numel()});
}

static at::Tensor joined(const at::Tensor& self) {
  return flat_anyway(self).expand_symint({self.sym_size(0), -1});
}

static at::Tensor twin_meta(const at::Tensor& self) {
  return self.new_empty_symint(self.sym_sizes());
}

static at::Tensor twin_cpu(const at::Tensor& self) {
  return self.new_empty({self.numel()});
}

static at::Tensor never_registered(const at::Tensor& self) {
  return self.view({self.numel()});
}

TORCH_LIBRARY(pairs, m) {
  m.def("joined(Tensor self) -> Tensor", &joined);
  m.def("twin(Tensor self) -> Tensor");
}

TORCH_LIBRARY_IMPL(pairs, Meta, m) {
  m.impl("twin", TORCH_FN(twin_meta));
}

TORCH_LIBRARY_IMPL(pairs, CPU, m) {
  m.impl("twin", &twin_cpu);
}

} // namespace pairs
