// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

bool only_small_ones_work(const at::Tensor& self) {
  if (self.sym_size(0) > 1) {
    return false;
  }
  self.neg();
  return true;
}
