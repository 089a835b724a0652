// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

at::Tensor undecided(const at::Tensor& self, int64_t wanted) {
  const auto rows = self.sym_size(0);
  if (rows == 5) {
    return self.neg();
  }
  if (rows < wanted) {
    return self.abs();
  }
  if (rows % 2 == 0) {
    return self.cos();
  }
  if (rows - 2 == 0) {
    return self.sin();
  }
  return self;
}
