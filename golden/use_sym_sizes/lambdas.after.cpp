// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

namespace shapes {

at::Tensor windows(const at::Tensor& self) {
  const auto rows = self.sym_size(0);
  auto by_reference = [&](int64_t offset) { return self.narrow_symint(0, offset, rows - 1); };
  auto by_value = [rows](const at::Tensor& other) { return other.expand_symint({rows, -1}); };
  auto by_name = [columns = self.sym_size(1)](const at::Tensor& other) { return other.reshape_symint({-1, columns}); };
  auto extent = [&](int64_t dim) -> c10::SymInt { return dim < self.dim() ? self.sym_size(dim) : c10::SymInt(1); };
  const auto check = [](c10::SymInt n) { TORCH_CHECK(n > 0, "empty: ", n); };
  check(extent(0));
  check(7);
  at::Tensor window = by_name(by_value(by_reference(1)));
  return window.narrow_symint(0, 0, extent(2));
}

} // namespace shapes
