// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

at::Tensor by_size(const at::Tensor& self) {
  const auto rows = self.sym_size(0);
  if (TORCH_GUARD_OR_FALSE(rows.sym_eq(0))) {
    return self.neg();
  }
  if (TORCH_GUARD_OR_TRUE(rows.sym_ne(1))) {
    return self.abs();
  }
  return !TORCH_GUARD_OR_TRUE(self.sym_numel().sym_gt(0)) ? self.cos() : self.sin();
}
