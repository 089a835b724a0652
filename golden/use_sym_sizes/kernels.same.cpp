// symfix-golden: path=aten/src/ATen/native/SummaryOps.cpp
#include <ATen/core/Tensor.h>
#include <ATen/ops/bincount_native.h>

namespace at::native {

namespace {

int64_t longest(const Tensor& self) {
  return self.size(0);
}

} // namespace

Tensor _bincount_cpu(const Tensor& self, const std::optional<Tensor>& weights, int64_t minlength) {
  return self.new_zeros({longest(self), self.numel()});
}

} // namespace at::native
