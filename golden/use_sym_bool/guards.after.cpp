// symfix-golden: all-functions
#include <ATen/core/Tensor.h>
#include <c10/core/SymBool.h>

namespace at::native {

Tensor halves(const Tensor& self, int64_t dim) {
  const auto n = self.sym_size(dim);
  if (TORCH_GUARD_OR_FALSE(n.sym_eq(0))) {
    return self;
  }
  if (TORCH_GUARD_OR_TRUE((self.sym_numel() + 1).sym_ne(1)) && self.dim() > 1) {
    return self.narrow_symint(dim, 0, n / 2);
  }
  if (TORCH_STATICALLY_KNOWN_TRUE(n.sym_lt(2))) {
    return self.contiguous();
  }
  return self;
}

} // namespace at::native
