// symfix-golden: all-functions
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

namespace shapes {

at::Tensor padded_rows(const at::Tensor& self, int64_t width, int extra) {
  return at::empty({self.size(0), width, 3, self.dim(), extra}, self.options());
}

} // namespace shapes
