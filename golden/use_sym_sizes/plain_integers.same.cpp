// symfix-golden: all-functions
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <vector>

// What an int64_t can and a SymInt can't.
at::Tensor tested_and_used(const at::Tensor& self) {
  return self.view({self.size(0) ?: 7, -1});
}

at::Tensor kept_from_the_optimizer(const at::Tensor& self) {
  volatile int64_t before = self.size(0);
  int64_t volatile behind = self.size(0);
  return self.view({before, behind});
}

at::Tensor value_of_a_block(const at::Tensor& self) {
  const auto n = ({
    auto rows = self.size(0);
    rows;
  });
  return self.view({n, -1});
}

at::Tensor value_of_an_assignment(const at::Tensor& self) {
  auto n = self.size(0);
  const auto m = (n += 1);
  return self.view({n, m});
}

at::Tensor long_long(const at::Tensor& self, long long factor) {
  return self.view({self.size(0) * 2LL, self.size(1) * factor});
}

at::Tensor larger_as_double(const at::Tensor& self) {
  return self * (std::max<double>(self.size(0), 2) / 4);
}

at::Tensor jumped_over(const at::Tensor& self, int64_t which) {
  switch (which) {
    case 1:
      int64_t n;
      n = self.size(0);
      return self.view({n, -1});
    default:
      return self;
  }
}

at::Tensor jumped_over_by_goto(const at::Tensor& self) {
  if (self.dim() == 0) {
    goto end;
  }
  int64_t n;
  n = self.size(0);
  return self.view({n, -1});
end:
  return self;
}

// From below 0 an unsigned division gives something else.
at::Tensor without_a_sign(const at::Tensor& self, const std::vector<int64_t>& names) {
  const auto n = (self.size(0) - 5 + names.size()) / 7;
  return self.view({static_cast<int64_t>(n), -1});
}

at::Tensor without_a_sign_by_name(const at::Tensor& self, const std::vector<int64_t>& names) {
  const auto both = self.size(0) + names.size();
  return self.view({static_cast<int64_t>(both - 9), -1});
}
