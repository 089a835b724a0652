// symfix-golden: all-functions
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>

namespace shapes {

at::Tensor averaged(const at::Tensor& self) {
  const auto count = static_cast<double>(self.numel());
  auto share = 1.0 / self.size(0);
  return self.sum() / count * share;
}

} // namespace shapes
