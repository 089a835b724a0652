// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

// SymInt has no -=, and the left side may be evaluated only once.
at::Tensor shrunk(const at::Tensor& self) {
  auto shape = self.sizes().vec();
  int64_t i = 0;
  shape[i++] -= 1;
  shape[i++] -= 1;
  return self.expand(shape);
}
