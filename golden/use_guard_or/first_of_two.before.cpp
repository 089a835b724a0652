// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

at::Tensor fast_path(const at::Tensor& self, int64_t wanted) {
  if (self.sym_numel() < 2 || wanted == 1) {
    return self.clone();
  }
  return self.sin();
}
