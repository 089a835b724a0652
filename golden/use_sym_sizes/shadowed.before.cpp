// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

namespace shapes {

at::Tensor inner_and_outer(const at::Tensor& self) {
  const auto n = self.size(0);
  auto scratch = [](int64_t n) { return std::vector<int64_t>(n); };
  {
    const int64_t n = self.dim();
    TORCH_CHECK(scratch(n).size() == 2, "two dimensions, not ", n);
  }
  return self.expand({n, -1});
}

// The same name in another function holds no size of a Tensor.
std::vector<int64_t> zeros_of(int64_t n) {
  return std::vector<int64_t>(n);
}

} // namespace shapes
