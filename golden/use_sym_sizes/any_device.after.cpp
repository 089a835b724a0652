// symfix-golden: path=aten/src/ATen/native/Shapes.cpp
#include <ATen/ATen.h>

namespace at::native {

static Tensor pooled(const Tensor& self, SymIntArrayRef size) {
  return self.new_empty_symint(size);
}

// The device does not decide these branches alone: any Tensor may come there.
Tensor ravel(const Tensor& self) {
  auto size = self.sym_sizes();
  if (size.size() == 1 && !self.is_xpu()) {
    return self;
  } else {
    return pooled(self, size);
  }
}

Tensor trapz(const Tensor& y, const Tensor& x, int64_t dim) {
  auto rows = x.sym_size(0);
  if (y.dim() > 1 && !y.is_mkldnn()) {
    return y.narrow_symint(0, 0, rows);
  }
  if (y.is_quantized() || rows == 1) {
    return y.expand_symint({rows, y.sym_numel()});
  }
  return y.narrow_symint(0, 0, rows - 1);
}

// Each of two devices: there a value is an integer.
Tensor trapezoid(const Tensor& y, const Tensor& x, int64_t dim) {
  auto rows = x.sym_size(0);
  if (y.is_mkldnn() || y.is_quantized()) {
    const int64_t known = rows.guard_int(__FILE__, __LINE__);
    return y.narrow(0, 0, known);
  }
  return y.narrow_symint(0, 0, rows);
}

} // namespace at::native
