// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

struct Extent {
  int64_t rows;
};

Extent remembered(const at::Tensor& self) {
  static const int64_t rows = self.size(0);
  Extent extent;
  extent.rows = self.size(0) + rows;
  return extent;
}
