// symfix-golden: path=aten/src/ATen/native/Sizes.cpp
#include <ATen/core/Tensor.h>

namespace at::native {

// The schema gives a SymInt.
c10::SymInt sym_size(const Tensor& self, int64_t dim) {
  return self.sym_size(dim);
}

c10::SymInt sym_numel(const Tensor& self) {
  return self.sym_numel();
}

} // namespace at::native
