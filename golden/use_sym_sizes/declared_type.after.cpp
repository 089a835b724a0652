// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

namespace shapes {

at::Tensor halves(const at::Tensor& self) {
  c10::SymInt count = self.sym_numel();
  const c10::SymInt rows{self.sym_size(0)};
  c10::SymInt columns(self.sym_size(1));
  auto half = count / 2;
  c10::SymInt taken = 0;
  taken = half;
  return self.reshape_symint({taken, rows, columns, -1});
}

} // namespace shapes

at::Tensor with_a_row(const at::Tensor& self) {
  auto shape = self.sym_sizes().vec();
  shape.back() = 1LL;
  c10::SymInt rows = self.sym_size(0);
  if (self.dim() == 1) {
    rows = 1LL;
  }
  return self.expand_symint(shape).narrow_symint(0, 0, rows);
}

at::Tensor zeros_like_rows(const at::Tensor& self) {
  const c10::SymInt rows = self.sym_size(0);
  return self.new_zeros_symint({rows, 3});
}
