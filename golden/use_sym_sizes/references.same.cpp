// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

// The container belongs to the caller: a reference to its element stays what it is.
void overwrite(const at::Tensor& self, std::vector<int64_t>& shape) {
  for (auto& extent : shape) {
    extent = self.size(0);
  }
}

void overwrite_first(const at::Tensor& self, std::vector<int64_t>& shape) {
  auto& first = shape[0];
  first = self.size(0);
}
