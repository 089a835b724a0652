// symfix-golden: all-functions
#include <ATen/core/Tensor.h>
#include <c10/core/SymBool.h>

namespace at::native {

// Two questions in one macro: taking them apart is for a person.
Tensor joined(const Tensor& self) {
  const auto n = self.sym_size(0);
  const auto m = self.sym_size(1);
  return TORCH_GUARD_OR_FALSE(n == 0 || m == 0) ? self : self.contiguous();
}

} // namespace at::native
