// symfix-golden: all-functions
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <optional>

static std::tuple<int64_t, int64_t> extents(const at::Tensor& self) {
  return {self.size(0), self.size(1)};
}

bool holds(const at::Tensor& self) {
  bool some = self.numel();
  c10::IValue kept = self.size(0);
  int64_t pair[2] = {self.size(0), std::get<0>(extents(self))};
  return some && kept.isInt() && pair[0] > 0;
}
