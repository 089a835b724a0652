// symfix-golden: path=aten/src/ATen/native/Shapes.cpp
#include <ATen/ATen.h>

namespace at::native {

// A macro may bring its own semicolon.
Tensor ravel(const Tensor& self) {
  auto rows = self.sym_size(0);
  TORCH_CHECK_INDEX(rows != 7, "not ", rows)
  if (self.dim() > 1) {
    rows = rows * self.sym_size(1);
  }
  return self.view_symint({rows});
}

} // namespace at::native
