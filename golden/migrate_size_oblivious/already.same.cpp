// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

at::Tensor already(const at::Tensor& self) {
  // TORCH_GUARD_SIZE_OBLIVIOUS(self.sym_numel().sym_eq(0)) stood here
  return TORCH_GUARD_OR_FALSE(self.sym_numel().sym_eq(0)) ? self.cos() : self.sin();
}
