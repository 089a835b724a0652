// symfix-golden: path=aten/src/ATen/native/Shapes.cpp
#include <ATen/ATen.h>

namespace at::native {

Tensor ravel(const Tensor& self) {
  auto rows = self.sym_size(0);
  rows = rows.min(self.sym_size(1));
  rows = rows.max(2);
  return self.narrow_symint(0, 0, rows);
}

Tensor trapz(const Tensor& y, const Tensor& x, int64_t dim) {
  c10::SymInt length = y.sym_size(dim);
  const auto other = x.sym_size(-1);
  length = length.max(other);
  const auto shorter = length.min(other);
  const auto longer = (other <= dim) ? c10::SymInt(dim) : other;
  return y.narrow_symint(0, shorter, other.max(length)).narrow_symint(0, 0, longer);
}

} // namespace at::native
