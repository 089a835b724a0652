// symfix-golden: all-functions
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

namespace shapes {

at::Tensor banded(const at::Tensor& self, int64_t width) {
  const auto rows = self.sym_size(0);
  auto band = at::zeros_symint({rows, width}, self.options());
  auto fill = at::full({width}, 2.5, self.options());
  auto index = at::arange(rows, self.options());
  auto scratch = at::empty_symint(self.sym_sizes(), self.options());
  auto first = self.narrow_symint(0, 0, rows - 1).expand_symint({width, rows - 1, -1});
  return band.add(fill).mul(index.view_symint({rows, 1})).add(self.new_zeros_symint({rows, width})).add(first.reshape_symint({rows, -1})).add(scratch);
}

} // namespace shapes
