// symfix-golden: path=csrc/lefts.cpp
#include <ATen/ATen.h>
#include <torch/library.h>

namespace lefts {

at::Tensor on_a_device(const at::Tensor& x, int64_t n) {
  return at::empty({n}, x.options());
}

at::Tensor of_two(const at::Tensor& x, int64_t n) {
  return at::empty({n}, x.options());
}

at::Tensor of_a_vector(const at::Tensor& x, const std::vector<int64_t>& sizes) {
  return at::empty(sizes, x.options());
}

at::Tensor counted(const at::Tensor& x, int64_t n) {
  std::vector<at::Tensor> parts(n, x);
  return at::cat(parts).narrow(0, 0, n);
}

at::Tensor twice(const at::Tensor& x, int64_t n) {
  return at::empty({n}, x.options());
}

at::Tensor named(const at::Tensor& x, int64_t n) {
  return at::empty({n}, x.options());
}

at::Tensor (*const kept)(const at::Tensor&, int64_t) = &named;

TORCH_LIBRARY(lefts, m) {
  m.def("on_a_device(Tensor x, int n) -> Tensor");
  m.def("one(Tensor x, int n) -> Tensor", &of_two);
  m.def("other(Tensor x, int n) -> Tensor", &of_two);
  m.def("of_a_vector(Tensor x, int[] sizes) -> Tensor", &of_a_vector);
  m.def("counted(Tensor x, int n) -> Tensor", &counted);
  m.def("twice(Tensor x, int n) -> Tensor", &twice);
  m.def("twice(Tensor x, int n) -> Tensor", &twice);
  m.def("three(Tensor x, int n, int k) -> Tensor", &on_a_device);
  m.def("broken(Tensor x, int n -> Tensor", &twice);
  m.def("named(Tensor x, int n) -> Tensor", &named);
}

TORCH_LIBRARY_IMPL(lefts, CPU, m) {
  m.impl("on_a_device", &on_a_device);
}

} // namespace lefts
