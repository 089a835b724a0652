// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

void expect_rows(const at::Tensor& self, const at::Tensor& other, const std::vector<int64_t>& names) {
  const auto rows = self.sym_size(0);
  TORCH_SYM_CHECK(rows.sym_eq(3), "expected 3 rows, got ", rows);
  TORCH_SYM_CHECK((rows + 1).sym_le(2 * other.sym_size(0)), "too many rows");
  TORCH_SYM_CHECK((other.sym_numel().sym_ne(0)), "empty");
  TORCH_INTERNAL_ASSERT(rows > self.dim(), "few rows");
}
