// symfix-golden: path=aten/src/ATen/native/Strides.cpp
#include <ATen/ATen.h>
#include <ATen/TensorUtils.h>

namespace at::native {

Tensor trapz(const Tensor& y, const Tensor& x, int64_t dim) {
  auto shape = x.sym_sizes().vec();
  auto stride = at::detail::computeStride(y.sym_sizes(), y.sym_strides(), shape);
  if (stride.has_value()) {
    if (y.is_mkldnn()) {
      return y.as_strided(C10_AS_INTARRAYREF_SLOW_ALLOC(shape), C10_AS_INTARRAYREF_SLOW_ALLOC(stride.value())).as_strided(C10_AS_INTARRAYREF_SLOW_ALLOC(shape), C10_AS_INTARRAYREF_SLOW_ALLOC(*stride));
    }
    return y.as_strided_symint(shape, *stride);
  }
  return y.reshape_symint(shape);
}

} // namespace at::native
