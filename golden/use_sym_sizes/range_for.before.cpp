// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

namespace shapes {

at::Tensor doubled(const at::Tensor& self) {
  auto shape = self.sizes().vec();
  for (auto& extent : shape) {
    extent = extent * 2;
  }
  int64_t total = 0;
  for (const int64_t extent : self.sizes()) {
    TORCH_CHECK(extent > 0, "empty dimension in ", self.sizes());
    total += extent;
  }
  return self.new_empty(shape).narrow(0, 0, total);
}

} // namespace shapes
