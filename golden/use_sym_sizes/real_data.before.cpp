// symfix-golden: path=aten/src/ATen/native/Shapes.cpp
#include <ATen/ATen.h>

#include <tuple>

namespace at::native {

static Tensor make_rows(const Tensor& self, IntArrayRef sizes, int64_t rows) {
  return self.new_empty(sizes).narrow(0, 0, rows);
}

static std::tuple<DimVector, int64_t> rows_and_sizes(const Tensor& self) {
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  return std::make_tuple(std::move(sizes), self.size(0));
}

static int64_t length_of(const Tensor& self) {
  return self.size(0) + 1;
}

// Only the kernel below calls it: what it gets is turned back into integers.
static Tensor counted(const Tensor& self) {
  auto [sizes, rows] = rows_and_sizes(self);
  const int64_t length = length_of(self);
  auto result = make_rows(self, sizes, rows);
  return length > 1 ? result : self;
}

Tensor _bincount_cpu(const Tensor& self, const std::optional<Tensor>& weights, int64_t minlength) {
  return counted(self);
}

Tensor trapz(const Tensor& y, const Tensor& x, int64_t dim) {
  auto parts = rows_and_sizes(x);
  auto shape = x.sizes();
  auto rows = x.size(0);
  if (y.is_mkldnn()) {
    return make_rows(y, shape, rows).narrow(0, 0, rows - 1);
  }
  return y.reshape(std::get<0>(parts)).expand(shape).narrow(0, 0, std::get<1>(parts) * length_of(x) - rows);
}

} // namespace at::native
