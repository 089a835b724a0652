#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>

#include "pads.h"

namespace pads {

at::Tensor filled_cpu(const at::Tensor& x, int64_t length, double value) {
  TORCH_CHECK(length >= x.size(0), "filled: ", x.size(0), " rows do not fit in ", length);
  auto out = at::full({length, x.size(1)}, value, x.options());
  out.narrow(0, 0, x.size(0)).copy_(x);
  return out;
}

at::Tensor filled_meta(const at::Tensor& x, int64_t length, double value) {
  return at::empty({length, x.size(1)}, x.options());
}

} // namespace pads
