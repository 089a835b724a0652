// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

at::Tensor by_size(const at::Tensor& self) {
  const auto rows = self.sym_size(0);
  if (rows == 0) {
    return self.neg();
  } else if (1 == rows) {
    return self.abs();
  }
  if (rows > 1 && self.dim() == 2) {
    return self.cos();
  }
  return self.sym_size(1) != 1 ? self.sin() : self.tan();
}
