// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

namespace shapes {

static std::vector<int64_t> with_front(at::IntArrayRef sizes, int64_t front = 1) {
  std::vector<int64_t> shape(sizes.begin(), sizes.end());
  shape.insert(shape.begin(), front);
  return shape;
}

static void grow(const at::Tensor& self, std::vector<int64_t>& shape, int64_t& count) {
  shape.push_back(self.size(0));
  count += self.numel();
}

at::Tensor stacked(const at::Tensor& self) {
  int64_t count = 0;
  auto shape = with_front(self.sizes());
  grow(self, shape, count);
  return self.expand(shape).narrow(0, 0, count);
}

} // namespace shapes
