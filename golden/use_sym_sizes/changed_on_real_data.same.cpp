// symfix-golden: path=aten/src/ATen/native/Shapes.cpp
#include <ATen/ATen.h>

namespace at::native {

static void widen(int64_t& rows) {
  rows += 1;
}

// A branch for one device changes the value, keeps it, or hands it to what is not known: it stays an integer.
Tensor trapz(const Tensor& y, const Tensor& x, int64_t dim) {
  auto rows = x.size(0);
  if (y.is_mkldnn()) {
    rows -= 1;
  }
  return y.narrow(0, 0, rows);
}

Tensor trapezoid(const Tensor& y, const Tensor& x, int64_t dim) {
  auto rows = x.size(0);
  auto sizes = x.sizes().vec();
  if (y.is_mkldnn()) {
    auto& same = rows;
    widen(same);
    std::vector<int64_t> copy = sizes;
    return y.narrow(0, 0, copy.back());
  }
  return y.narrow(0, 0, rows).view(sizes);
}

// A kernel calls the helper itself.
static int64_t length_of(const Tensor& self) {
  return self.size(0) + 1;
}

Tensor _bincount_cpu(const Tensor& self, const std::optional<Tensor>& weights, int64_t minlength) {
  return self.narrow(0, 0, length_of(self));
}

Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, int64_t dim) {
  return y.narrow(0, 0, length_of(x));
}

} // namespace at::native
