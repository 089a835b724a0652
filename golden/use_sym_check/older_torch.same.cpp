// symfix-golden: path=aten/src/ATen/native/Shapes.cpp min-torch=2.0
#include <ATen/ATen.h>

namespace at::native {

// The oldest torch that this has to compile for has no TORCH_SYM_CHECK yet.
Tensor ravel(const Tensor& self) {
  TORCH_CHECK(self.sym_size(0) == self.sym_size(1), "not square");
  return self;
}

} // namespace at::native
