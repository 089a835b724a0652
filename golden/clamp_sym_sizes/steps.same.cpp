// symfix-golden: path=aten/src/ATen/native/Shapes.cpp
#include <ATen/ATen.h>

namespace at::native {

// The order decides more than one value.
Tensor ravel(const Tensor& self) {
  auto rows = self.sym_size(0);
  auto columns = self.sym_size(1);
  if (rows > columns) {
    std::swap(rows, columns);
  }
  if (rows > columns) {
    return self;
  }
  return self.narrow_symint(0, 0, rows < columns ? columns - rows : rows);
}

} // namespace at::native
