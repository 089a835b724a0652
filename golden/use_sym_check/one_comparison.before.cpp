// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

void expect_rows(const at::Tensor& self, const at::Tensor& other, const std::vector<int64_t>& names) {
  const auto rows = self.sym_size(0);
  TORCH_CHECK(rows == 3, "expected 3 rows, got ", rows);
  TORCH_CHECK(rows + 1 <= 2 * other.sym_size(0), "too many rows");
  TORCH_CHECK((other.sym_numel() != 0), "empty");
  TORCH_INTERNAL_ASSERT(rows > self.dim(), "few rows");
}
