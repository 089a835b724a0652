// symfix-golden: path=aten/src/ATen/native/Cov.cpp
#include <ATen/core/Tensor.h>
#include <ATen/ops/trapz_native.h>

namespace at::native {

namespace {

// Called by a composite kernel only.
Tensor without_last(const Tensor& y, int64_t dim) {
  return y.slice_symint(dim, 0, y.sym_size(dim) - 1);
}

// Called by nobody.
Tensor unreachable(const Tensor& y) {
  return y.view({y.numel()});
}

} // namespace

Tensor trapz(const Tensor& y, const Tensor& x, int64_t dim) {
  TORCH_CHECK(y.sym_size(dim) == x.sym_size(0), "expected ", y.sym_size(dim), " places");
  return without_last(y, dim);
}

} // namespace at::native
