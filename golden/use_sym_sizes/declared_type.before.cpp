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
