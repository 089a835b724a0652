// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

void expect_alike(const at::Tensor& self, const at::Tensor& other, int64_t dim, c10::SymInt groups) {
  TORCH_CHECK(self.sym_sizes() == other.sym_sizes(), "shapes differ");
  TORCH_CHECK_VALUE(self.sym_size(0) == 3, "another exception");
  TORCH_CHECK(self.dim() == dim, "no size at all");
  TORCH_CHECK(self.sym_size(0) == 1.5, "no integer");
  TORCH_CHECK(groups == 2, "no size: the caller says it");
}
