// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

at::Tensor unfinished(const at::Tensor& self) {
  auto rows = self.size(0);
  return self.view({rows, -1} };
}
