// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

namespace shapes {

at::Tensor windows(const at::Tensor& self) {
  const auto rows = self.size(0);
  auto by_reference = [&](int64_t offset) { return self.narrow(0, offset, rows - 1); };
  auto by_value = [rows](const at::Tensor& other) { return other.expand({rows, -1}); };
  auto by_name = [columns = self.size(1)](const at::Tensor& other) { return other.reshape({-1, columns}); };
  auto extent = [&](int64_t dim) -> int64_t { return dim < self.dim() ? self.size(dim) : 1; };
  const auto check = [](int64_t n) { TORCH_CHECK(n > 0, "empty: ", n); };
  check(extent(0));
  check(7);
  at::Tensor window = by_name(by_value(by_reference(1)));
  return window.narrow(0, 0, extent(2));
}

} // namespace shapes
