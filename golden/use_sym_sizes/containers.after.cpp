// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <array>

namespace shapes {

at::Tensor every_kind(const at::Tensor& self) {
  std::array<c10::SymInt, 2> pair = {self.sym_size(0), 1};
  c10::SmallVector<c10::SymInt, 4> small = {self.sym_size(1), 2};
  std::vector<c10::SymInt> filled(self.dim(), 1);
  filled[0] = self.sym_size(0);
  std::vector<c10::SymInt> copied(self.dim());
  std::copy(self.sym_sizes().begin(), self.sym_sizes().end(), copied.begin());
  std::swap(copied[0], copied[1]);
  std::reverse(copied.begin(), copied.end());
  copied.erase(copied.begin());
  copied.pop_back();
  copied.emplace_back(self.sym_stride(0));
  return self.view_symint(pair).view_symint(small).view_symint(filled).as_strided_symint(copied, self.sym_strides(), self.sym_storage_offset() + 1);
}

} // namespace shapes
