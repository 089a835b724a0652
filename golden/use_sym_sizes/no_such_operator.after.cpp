// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

namespace shapes {

// SymInt has no -=, %=, ++ and no conversion to bool.
at::Tensor stepped(const at::Tensor& self) {
  auto n = self.sym_size(0);
  n = n - 1;
  n = n % (self.dim() + 3);
  n += 1;
  if (self.sym_numel() != 0 && self.sym_size(1) == 0) {
    n = -n;
  }
  return self.narrow_symint(0, 0, n);
}

} // namespace shapes
