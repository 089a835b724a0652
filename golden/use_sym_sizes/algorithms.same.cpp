// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstring>
#include <numeric>

// These compare, or hand elements to code that takes an int64_t.
at::Tensor ordered(const at::Tensor& self, std::vector<int64_t>& out) {
  auto sizes = self.sizes().vec();
  std::sort(sizes.begin(), sizes.end());
  auto strides = self.strides();
  std::transform(strides.begin(), strides.end(), out.begin(), [](int64_t stride) { return stride * 2; });
  auto copied = self.sizes().vec();
  std::memcpy(out.data(), copied.data(), 8);
  return self.narrow(0, 0, std::accumulate(self.sizes().begin(), self.sizes().end(), int64_t{0}));
}
