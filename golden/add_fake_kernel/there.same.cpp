// symfix-golden: path=csrc/theres.cpp
#include <ATen/ATen.h>
#include <torch/library.h>

namespace theres {

at::Tensor rows(const at::Tensor& x) {
  return at::empty({x.size(0)}, x.options());
}

TORCH_LIBRARY(theres, m) {
  m.set_python_module("theres.fakes");
  m.def("in_python(Tensor x) -> Tensor");
  m.def("composite(Tensor x) -> Tensor", &rows);
  m.def("no_kernel(Tensor x) -> Tensor");
}

TORCH_LIBRARY_IMPL(theres, CPU, m) {
  m.impl("in_python", &rows);
}

} // namespace theres
