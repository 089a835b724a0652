// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

#include <functional>

at::Tensor half_of(const at::Tensor& self) {
  std::function<int64_t(int64_t)> half = [](int64_t n) { return n / 2; };
  return self.narrow(0, 0, half(self.size(0)));
}
