// symfix-golden: path=aten/src/ATen/native/Shared.cpp
#include <ATen/core/Tensor.h>
#include <ATen/ops/trapz_native.h>
#include <ATen/ops/bincount_native.h>

namespace at::native {

// Both kinds call this one: the kernel's int64_t converts.
static void expect_positive(int64_t extent) {
  TORCH_CHECK(extent > 0, "empty: ", extent);
}

Tensor trapz(const Tensor& y, const Tensor& x, int64_t dim) {
  expect_positive(y.size(dim));
  return x;
}

Tensor _bincount_cpu(const Tensor& self, const std::optional<Tensor>& weights, c10::SymInt minlength) {
  expect_positive(self.size(0));
  return self;
}

} // namespace at::native
