// symfix-golden: all-functions
#include <ATen/core/Tensor.h>
#include <c10/util/accumulate.h>

#include <numeric>

namespace shapes {

static c10::SymInt trailing_elements(at::SymIntArrayRef sizes) {
  return c10::multiply_integers(sizes.begin() + 1, sizes.end());
}

at::Tensor flatten_rest(const at::Tensor& self) {
  c10::SymInt by_hand = 1;
  for (const auto extent : self.sym_sizes().slice(1)) {
    by_hand *= extent;
  }
  return self.view_symint({-1, trailing_elements(self.sym_sizes())}).view_symint({-1, by_hand});
}

} // namespace shapes
