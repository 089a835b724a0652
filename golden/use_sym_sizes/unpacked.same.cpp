// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

#include <tuple>

at::Tensor swapped(const at::Tensor& self) {
  auto [rows, columns] = std::make_pair(self.size(0), self.size(1));
  int64_t first, second;
  std::tie(first, second) = std::make_tuple(self.size(1), self.size(0));
  return self.view({rows, columns}).view({first, second});
}
