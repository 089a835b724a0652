// symfix-golden: all-functions
#include <ATen/core/Tensor.h>
#include <c10/core/SymBool.h>

namespace at::native {

#define EMPTY(t) TORCH_GUARD_OR_FALSE((t).sym_numel() == 0)

Tensor first(const Tensor& self) {
  const auto n = self.sym_size(0);
  // TORCH_GUARD_OR_FALSE(n == 0) in a comment
  if (TORCH_GUARD_OR_FALSE(n.sym_eq(0)) || EMPTY(self)) {
    return self;
  }
  const int64_t dims = self.dim();
  if (TORCH_GUARD_OR_FALSE(dims == 0)) {
    return self;
  }
  const bool known = n == 1;
  return TORCH_GUARD_OR_FALSE(known) ? self : self.contiguous();
}

} // namespace at::native
