#include <ATen/core/Tensor.h>
#include <c10/util/irange.h>

namespace at::native {

// The number of copies bounds a loop: the parameter has to stay an integer inside.
Tensor tile(const Tensor& self, IntArrayRef reps) {
  Tensor out = self;
  for (const auto d : c10::irange(self.dim())) {
    std::vector<Tensor> copies(reps[d], out);
    out = copies.front();
  }
  return out;
}

// No schema asks anything of these.
Tensor my_own_helper(const Tensor& self, int64_t length) {
  return self.narrow(0, 0, length);
}

static Tensor select_scatter(const Tensor& self, int64_t index) {
  return self.select(0, index);
}

} // namespace at::native
