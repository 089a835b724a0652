// symfix-golden: path=aten/src/ATen/native/Rows.cpp
#include <ATen/ATen.h>

namespace at::native {

// Which side is taken does not follow from one device alone; either side only compares the size.
Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, int64_t dim) {
  const auto rows = y.size(0);
  if (y.device().type() != at::kCUDA && y.device().type() != at::kXPU) {
    TORCH_CHECK(y.defined(), "no rows");
  } else {
    TORCH_CHECK(rows >= 1, "rows should be positive");
  }
  return y.narrow(0, 0, rows);
}

} // namespace at::native
