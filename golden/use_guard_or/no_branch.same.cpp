// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

at::Tensor stored(const at::Tensor& self, c10::SymInt groups) {
  bool empty = self.sym_numel() == 0;
  if (!(self.sym_size(0) == 1) || empty) {
    return self.neg();
  }
  if (groups == 1) {
    return self.abs();
  }
  while (self.sym_size(0) == 0) {
    break;
  }
  return TORCH_GUARD_OR_FALSE(self.sym_size(0).sym_eq(1)) ? self.cos() : self.sin();
}
