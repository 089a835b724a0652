// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

namespace shapes {

at::Tensor keep_or_collapse(const at::Tensor& self, bool keep, bool twice, int64_t wanted) {
  const int64_t rows = keep ? self.size(0) : wanted;
  auto columns = keep ? self.size(1) : twice ? 2 : 1;
  auto shape = keep ? self.sizes().vec() : std::vector<int64_t>{rows, columns};
  shape.back() = columns;
  return self.expand(shape);
}

} // namespace shapes
