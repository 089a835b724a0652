// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

at::Tensor fast_path(const at::Tensor& self, int64_t wanted) {
  if (TORCH_GUARD_OR_FALSE(self.sym_numel().sym_lt(2)) || wanted == 1) {
    return self.clone();
  }
  return self.sin();
}
