// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

namespace shapes {

// The right side only makes sense if the left one holds: && stays.
void expect_pairs(const at::Tensor& self, const at::Tensor& groups) {
  TORCH_CHECK(self.dim() == 2 && self.size(1) == 2, "expected pairs, got shape ", self.sizes());
  TORCH_CHECK(
      groups.size(0) != 0 && self.size(0) % groups.size(0) == 0,
      "expected ", self.size(0), " to be a multiple of ", groups.numel());
}

} // namespace shapes
