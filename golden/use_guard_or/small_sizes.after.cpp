// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

at::Tensor by_size(const at::Tensor& self) {
  const auto rows = self.sym_size(0);
  if (TORCH_GUARD_OR_FALSE(rows.sym_eq(0))) {
    return self.neg();
  } else if (TORCH_GUARD_OR_FALSE(rows.sym_eq(1))) {
    return self.abs();
  }
  if (TORCH_GUARD_OR_TRUE(rows.sym_gt(1)) && self.dim() == 2) {
    return self.cos();
  }
  return TORCH_GUARD_OR_TRUE(self.sym_size(1).sym_ne(1)) ? self.sin() : self.tan();
}
