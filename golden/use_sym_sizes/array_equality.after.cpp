// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

namespace shapes {

static bool same_tail(at::SymIntArrayRef sizes, const at::Tensor& other) {
  return sizes.slice(1).equals(other.sym_sizes().slice(1));
}

void expect_alike(const at::Tensor& self, const at::Tensor& other) {
  auto wanted = other.sym_sizes().vec();
  wanted[0] = 1;
  TORCH_CHECK(self.sym_sizes() == wanted, "expected ", wanted, ", got ", self.sym_sizes());
  TORCH_CHECK(self.sym_sizes().equals(other.sym_sizes()) && self.sym_strides() != other.sym_strides(), "alike");
  TORCH_CHECK(same_tail(self.sym_sizes(), other), "tails differ");
}

} // namespace shapes
