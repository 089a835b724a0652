// symfix-golden: all-functions
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>

namespace shapes {

at::Tensor averaged(const at::Tensor& self) {
  const auto count = c10::SymFloat(self.sym_numel());
  auto share = 1.0 / self.sym_size(0);
  return self.sum() / count * share;
}

} // namespace shapes
