// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

namespace shapes {

// SymInt has no -=, %=, ++ and no conversion to bool.
at::Tensor stepped(const at::Tensor& self) {
  auto n = self.size(0);
  n -= 1;
  n %= self.dim() + 3;
  ++n;
  if (self.numel() && !self.size(1)) {
    n = -n;
  }
  return self.narrow(0, 0, n);
}

} // namespace shapes
