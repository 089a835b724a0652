// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

namespace shapes {

static bool same_tail(at::IntArrayRef sizes, const at::Tensor& other) {
  return sizes.slice(1).equals(other.sizes().slice(1));
}

void expect_alike(const at::Tensor& self, const at::Tensor& other) {
  auto wanted = other.sizes().vec();
  wanted[0] = 1;
  TORCH_CHECK(self.sizes() == wanted, "expected ", wanted, ", got ", self.sizes());
  TORCH_CHECK(self.sizes().equals(other.sizes()) && self.strides() != other.strides(), "alike");
  TORCH_CHECK(same_tail(self.sizes(), other), "tails differ");
}

} // namespace shapes
