// symfix-golden: path=aten/src/ATen/native/Shapes.cpp
#include <ATen/ATen.h>

namespace at::native {

// No size is compared, or none that is symbolic.
Tensor ravel(const Tensor& self) {
  int64_t rows = self.dim();
  if (rows > 3) {
    rows = 3;
  }
  return self.narrow(0, 0, rows < 2 ? rows : 2);
}

// A kernel never sees a symbolic size.
Tensor _bincount_cpu(const Tensor& self, const std::optional<Tensor>& weights, int64_t minlength) {
  auto rows = self.sym_size(0);
  if (rows > self.sym_size(1)) {
    rows = self.sym_size(1);
  }
  return self.narrow_symint(0, 0, rows);
}

} // namespace at::native
