#include <ATen/ATen.h>
#include <numeric>
#include <torch/library.h>

namespace fold {

// The first element is still a size.
at::Tensor but_the_first(const at::Tensor& self) {
  std::vector<int64_t> order(self.sizes().begin(), self.sizes().end());
  std::iota(order.begin() + 1, order.end(), 0);
  return self.permute(order);
}

// Something stands between the declaration and what overwrites it.
at::Tensor one_more(const at::Tensor& self) {
  std::vector<int64_t> order(self.sizes().begin(), self.sizes().end());
  order.push_back(1);
  std::iota(order.begin(), order.end(), 0);
  return self.unsqueeze(-1).permute(order);
}

// Another list is overwritten.
at::Tensor another(const at::Tensor& self) {
  std::vector<int64_t> order(self.dim());
  std::vector<int64_t> sums(self.sizes().begin(), self.sizes().end());
  std::iota(order.begin(), order.end(), 0);
  std::partial_sum(sums.begin(), sums.end(), sums.begin());
  return self.permute(order);
}

} // namespace fold

TORCH_LIBRARY(fold, m) {
  m.def("but_the_first(Tensor self) -> Tensor", &fold::but_the_first);
  m.def("one_more(Tensor self) -> Tensor", &fold::one_more);
  m.def("another(Tensor self) -> Tensor", &fold::another);
}
