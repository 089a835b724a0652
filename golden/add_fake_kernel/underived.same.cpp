// symfix-golden: path=csrc/others.cpp
#include <ATen/ATen.h>
#include <torch/library.h>

namespace others {

at::Tensor changed(const at::Tensor& x, int64_t n) {
  auto out = at::empty({n}, x.options());
  out.resize_({n + 1});
  return out;
}

at::Tensor of_data(const at::Tensor& x) {
  auto n = x.max().item<int64_t>();
  return at::empty({n}, x.options());
}

at::Tensor branched(const at::Tensor& x, bool flat) {
  if (flat) {
    return at::empty({x.numel()}, x.options());
  }
  return at::empty_like(x);
}

at::Tensor chosen(const at::Tensor& x, bool flat) {
  return at::empty({flat ? x.numel() : 1}, x.options());
}

at::Tensor view_of(const at::Tensor& x) {
  auto out = x.view({-1});
  return out;
}

at::Tensor counted(const at::Tensor& x) {
  int64_t n = 0;
  for (int64_t i = 0; i < x.size(0); ++i) {
    n += 2;
  }
  return at::empty({n}, x.options());
}

TORCH_LIBRARY(others, m) {
  m.def("changed(Tensor x, int n) -> Tensor");
  m.def("of_data(Tensor x) -> Tensor");
  m.def("branched(Tensor x, bool flat) -> Tensor");
  m.def("chosen(Tensor x, bool flat) -> Tensor");
  m.def("view_of(Tensor x) -> Tensor");
  m.def("counted(Tensor x) -> Tensor");
}

TORCH_LIBRARY_IMPL(others, CPU, m) {
  m.impl("changed", &changed);
  m.impl("of_data", &of_data);
  m.impl("branched", &branched);
  m.impl("chosen", &chosen);
  m.impl("view_of", &view_of);
  m.impl("counted", &counted);
}

} // namespace others
