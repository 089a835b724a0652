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
  m.def("split_rows(Tensor x, SymInt n, bool flag) -> (Tensor, Tensor)");
  m.def("like(Tensor x) -> Tensor");
}

TORCH_LIBRARY_IMPL(rows, CPU, m) {
  m.impl("split_rows", &rows::split_rows);
  m.impl("like", &rows::like);
}

// In Python:
//   @torch.library.register_fake("rows::split_rows")
//   def split_rows_fake(x, n, flag):
//       rows = x.shape[0] * n
//       out = torch.empty((rows, x.shape[1]), dtype=x.dtype, device=x.device)
//       index = torch.zeros((n,), dtype=torch.int64, device=x.device)
//       return out, index
namespace rows {
std::tuple<at::Tensor, at::Tensor> split_rows_meta(const at::Tensor& x, c10::SymInt n, bool flag) {
  const auto rows = x.sym_size(0) * n;
  auto out = at::empty_symint({rows, x.sym_size(1)}, x.options());
  auto index = at::zeros_symint({n}, x.options().dtype(at::kLong));
  return std::make_tuple(out, index);
}
}
TORCH_LIBRARY_IMPL(rows, Meta, m) {
  m.impl("split_rows", &rows::split_rows_meta);
}

// In Python:
//   @torch.library.register_fake("rows::like")
//   def like_fake(x):
//       out = torch.empty_like(x)
//       return out
namespace rows {
at::Tensor like_meta(const at::Tensor& x) {
  auto out = at::empty_like(x);
  return out;
}
}
TORCH_LIBRARY_IMPL(rows, Meta, m) {
  m.impl("like", &rows::like_meta);
}
