// symfix-golden: path=csrc/rows.cpp
#include <ATen/ATen.h>
#include <torch/library.h>

namespace rows {

std::tuple<at::Tensor, at::Tensor> split_rows(const at::Tensor& x, int64_t n, bool flag) {
  TORCH_CHECK(n > 0);
  const auto rows = x.size(0) * n;
  auto out = at::empty({rows, x.size(1)}, x.options());
  auto index = at::zeros({n}, x.options().dtype(at::kLong));
  float* p = out.data_ptr<float>();
  for (int64_t i = 0; i < rows; ++i) { p[i] = 1; }
  return std::make_tuple(out, index);
}

at::Tensor like(const at::Tensor& x) {
  auto out = at::empty_like(x);
  return out;
}

} // namespace rows

TORCH_LIBRARY(rows, m) {
  m.def("split_rows(Tensor x, int n, bool flag) -> (Tensor, Tensor)");
  m.def("like(Tensor x) -> Tensor");
}

TORCH_LIBRARY_IMPL(rows, CPU, m) {
  m.impl("split_rows", &rows::split_rows);
  m.impl("like", &rows::like);
}
