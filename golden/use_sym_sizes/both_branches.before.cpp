// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

#define ROWS_TWICE (rows * 2)
#define NOINLINE __attribute__((noinline))

namespace shapes {

at::Tensor in_a_macro(const at::Tensor& self) {
  const auto rows = self.size(0);
  return self.reshape({ROWS_TWICE, -1});
}

at::Tensor in_the_other_branch(const at::Tensor& self) {
  const auto rows = self.size(0);
#ifdef SHAPES_COUNT
  std::vector<at::Tensor> each(rows);
#endif
  return self.expand({rows, -1});
}

NOINLINE at::Tensor open(const at::Tensor& self) {
  const auto rows = self.size(0);
  return self.expand({rows, -1});
}

} // namespace shapes
