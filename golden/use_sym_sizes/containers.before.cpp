// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <array>

namespace shapes {

at::Tensor every_kind(const at::Tensor& self) {
  std::array<int64_t, 2> pair = {self.size(0), 1};
  c10::SmallVector<int64_t, 4> small = {self.size(1), 2};
  std::vector<int64_t> filled(self.dim(), 1);
  filled[0] = self.size(0);
  std::vector<int64_t> copied(self.dim());
  std::copy(self.sizes().begin(), self.sizes().end(), copied.begin());
  std::swap(copied[0], copied[1]);
  std::reverse(copied.begin(), copied.end());
  copied.erase(copied.begin());
  copied.pop_back();
  copied.emplace_back(self.stride(0));
  return self.view(pair).view(small).view(filled).as_strided(copied, self.strides(), self.storage_offset() + 1);
}

} // namespace shapes
