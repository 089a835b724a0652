// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

at::Tensor on_device(const at::Tensor& self) {
  if (self.is_cuda()) {
    TORCH_CHECK(self.sym_size(0) == 3, "three rows");
    return self.neg();
  }
  return self;
}
