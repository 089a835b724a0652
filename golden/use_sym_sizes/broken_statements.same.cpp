// symfix-golden: path=aten/src/ATen/native/Shapes.cpp
#include <ATen/ATen.h>

namespace at::native {

// A semicolon is missing, and no macro brings it: what stands there can't be read with certainty.
Tensor ravel(const Tensor& self) {
  auto rows = self.size(0);
  check_rows(rows)
  if (self.dim() > 1) {
    rows = rows * self.size(1);
  }
  return self.view({rows});
}

} // namespace at::native
