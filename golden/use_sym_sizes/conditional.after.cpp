// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

namespace shapes {

at::Tensor keep_or_collapse(const at::Tensor& self, bool keep, bool twice, int64_t wanted) {
  const c10::SymInt rows = keep ? self.sym_size(0) : c10::SymInt(wanted);
  auto columns = keep ? self.sym_size(1) : c10::SymInt(twice ? 2 : 1);
  auto shape = keep ? self.sym_sizes().vec() : std::vector<c10::SymInt>{rows, columns};
  shape.back() = columns;
  return self.expand_symint(shape);
}

} // namespace shapes
