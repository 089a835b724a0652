// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

namespace shapes {

// The right side only makes sense if the left one holds: && stays.
void expect_pairs(const at::Tensor& self, const at::Tensor& groups) {
  TORCH_CHECK(self.dim() == 2 && self.sym_size(1) == 2, "expected pairs, got shape ", self.sym_sizes());
  TORCH_CHECK(
      groups.sym_size(0) != 0 && self.sym_size(0) % groups.sym_size(0) == 0,
      "expected ", self.sym_size(0), " to be a multiple of ", groups.sym_numel());
}

} // namespace shapes
