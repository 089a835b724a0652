// symfix-golden: path=aten/src/ATen/native/ReduceOps.cpp
#include <ATen/core/Tensor.h>

namespace at::meta {

TORCH_META_FUNC(cumsum)
(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  set_output_raw_strided(0, self.sizes(), {}, self.options());
}

} // namespace at::meta

namespace at::native {

TORCH_IMPL_FUNC(cumsum_out)
(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype, const Tensor& result) {
  if (self.numel() == 0) {
    result.zero_();
  }
}

} // namespace at::native
