// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

at::Tensor comma(const at::Tensor& a, const at::Tensor& b) {
  auto n = (a.sym_size(0), b.sym_size(0));
  const auto shape = (a.dim(), b.sym_sizes());
  return a.view_symint({n, shape[0]});
}

at::Tensor comma_in_a_loop(const at::Tensor& self) {
  c10::SymInt n = self.sym_size(0);
  for (int64_t i = 0; i < 3; i++, n += 2) {
  }
  return self.view_symint({n, -1});
}

at::Tensor assigned_in_turn(const at::Tensor& self) {
  c10::SymInt n = self.sym_size(0), m = n = n - 1, k = 0;
  k = m = 3;
  return self.view_symint({n, m, k});
}

at::Tensor long_long(const at::Tensor& self) {
  c10::SymInt rows = self.dim() > 1 ? self.sym_size(0) : c10::SymInt(1LL);
  return self.view_symint({self.sym_size(1), rows});
}

at::Tensor counted_without_a_sign(const at::Tensor& self, const std::vector<int64_t>& names) {
  const auto n = (self.sym_size(0) * names.size() + 3) / 2;
  return self.view_symint({n, -1});
}
