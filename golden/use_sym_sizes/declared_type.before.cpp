// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

namespace shapes {

at::Tensor halves(const at::Tensor& self) {
  int64_t count = self.numel();
  const int64_t rows{self.size(0)};
  int64_t columns(self.size(1));
  auto half = count / 2;
  int64_t taken = 0;
  taken = half;
  return self.reshape({taken, rows, columns, -1});
}

} // namespace shapes

at::Tensor with_a_row(const at::Tensor& self) {
  auto shape = self.sizes().vec();
  shape.back() = 1LL;
  int64_t rows = self.size(0);
  if (self.dim() == 1) {
    rows = 1LL;
  }
  return self.expand(shape).narrow(0, 0, rows);
}

at::Tensor zeros_like_rows(const at::Tensor& self) {
  const int rows = self.size(0);
  return self.new_zeros({rows, 3});
}
