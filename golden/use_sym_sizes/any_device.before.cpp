// symfix-golden: path=aten/src/ATen/native/Shapes.cpp
#include <ATen/ATen.h>

namespace at::native {

static Tensor pooled(const Tensor& self, IntArrayRef size) {
  return self.new_empty(size);
}

// The device does not decide these branches alone: any Tensor may come there.
Tensor ravel(const Tensor& self) {
  auto size = self.sizes();
  if (size.size() == 1 && !self.is_xpu()) {
    return self;
  } else {
    return pooled(self, size);
  }
}

Tensor trapz(const Tensor& y, const Tensor& x, int64_t dim) {
  auto rows = x.size(0);
  if (y.dim() > 1 && !y.is_mkldnn()) {
    return y.narrow(0, 0, rows);
  }
  if (y.is_quantized() || rows == 1) {
    return y.expand({rows, y.numel()});
  }
  return y.narrow(0, 0, rows - 1);
}

// Each of two devices: there a value is an integer.
Tensor trapezoid(const Tensor& y, const Tensor& x, int64_t dim) {
  auto rows = x.size(0);
  if (y.is_mkldnn() || y.is_quantized()) {
    const int64_t known = rows;
    return y.narrow(0, 0, known);
  }
  return y.narrow(0, 0, rows);
}

} // namespace at::native
