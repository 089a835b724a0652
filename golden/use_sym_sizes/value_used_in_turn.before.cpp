// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

at::Tensor comma(const at::Tensor& a, const at::Tensor& b) {
  auto n = (a.size(0), b.size(0));
  const auto shape = (a.dim(), b.sizes());
  return a.view({n, shape[0]});
}

at::Tensor comma_in_a_loop(const at::Tensor& self) {
  int64_t n = self.size(0);
  for (int64_t i = 0; i < 3; i++, n += 2) {
  }
  return self.view({n, -1});
}

at::Tensor assigned_in_turn(const at::Tensor& self) {
  int64_t n = self.size(0), m = n -= 1, k = 0;
  k = m = 3;
  return self.view({n, m, k});
}

at::Tensor long_long(const at::Tensor& self) {
  long long int rows = self.dim() > 1 ? self.size(0) : 1LL;
  return self.view({static_cast<long long>(self.size(1)), rows});
}

at::Tensor counted_without_a_sign(const at::Tensor& self, const std::vector<int64_t>& names) {
  const auto n = (self.size(0) * names.size() + 3) / 2;
  return self.view({static_cast<int64_t>(n), -1});
}
