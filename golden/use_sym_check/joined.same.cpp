// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

// The right side of && only makes sense if the left one holds.
void expect_multiple(const at::Tensor& self) {
  auto rows = self.sym_size(0);
  TORCH_CHECK(rows != 0 && self.sym_size(1) % rows == 0, "no multiple");
  TORCH_CHECK(self.dim() == 2 && self.sym_size(1) == 3, "no triples");
  TORCH_CHECK(!(rows == 3), "three rows");
}
