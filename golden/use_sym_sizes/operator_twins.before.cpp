// symfix-golden: all-functions
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

namespace shapes {

at::Tensor banded(const at::Tensor& self, int64_t width) {
  const auto rows = self.size(0);
  auto band = at::zeros({rows, width}, self.options());
  auto fill = at::full({width}, 2.5, self.options());
  auto index = at::arange(rows, self.options());
  auto scratch = at::empty(self.sizes(), self.options());
  auto first = self.narrow(0, 0, rows - 1).expand({width, rows - 1, -1});
  return band.add(fill).mul(index.view({rows, 1})).add(self.new_zeros({rows, width})).add(first.reshape({rows, -1})).add(scratch);
}

} // namespace shapes
