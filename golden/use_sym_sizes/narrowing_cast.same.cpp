// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

// A cast to fewer bits is what the check is about.
void expect_few(const at::Tensor& self) {
  TORCH_CHECK(static_cast<int32_t>(self.numel()) == self.numel(), "too many elements");
}

at::Tensor single(const at::Tensor& self) {
  return self / static_cast<float>(self.numel());
}
