// symfix-golden: path=aten/src/ATen/native/Cov.cpp
#include <ATen/core/Tensor.h>
#include <ATen/ops/trapz_native.h>

namespace at::native {

namespace {

// Called by a composite kernel only.
Tensor without_last(const Tensor& y, int64_t dim) {
  return y.slice(dim, 0, y.size(dim) - 1);
}

// Called by nobody.
Tensor unreachable(const Tensor& y) {
  return y.view({y.numel()});
}

} // namespace

Tensor trapz(const Tensor& y, const Tensor& x, int64_t dim) {
  TORCH_CHECK(y.size(dim) == x.size(0), "expected ", y.size(dim), " places");
  return without_last(y, dim);
}

} // namespace at::native
