// symfix-golden: all-functions
#include <ATen/core/Tensor.h>
#include <c10/util/irange.h>

at::Tensor each_row(at::Tensor self) {
  for (const auto i : c10::irange(self.size(0))) {
    self[i].neg_();
  }
  for (int64_t i = self.size(1) - 1; i >= 0; --i) {
    self.select(1, i).abs_();
  }
  auto left = self.numel();
  while (left > 1) {
    left /= 2;
  }
  return self;
}
