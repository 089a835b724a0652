// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

void expect_more(const at::Tensor& self) {
  auto count = self.sym_numel();
  TORCH_SYM_CHECK(count.sym_gt(0), "expected elements");
  TORCH_SYM_CHECK(self.sym_size(0).sym_le(2), "expected at most 2 rows, not ", self.sym_size(0));
}
