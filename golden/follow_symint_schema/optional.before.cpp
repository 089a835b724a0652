#include <ATen/core/Tensor.h>
#include <ATen/ops/as_strided_native.h>

namespace at::native {

const Tensor& as_strided_(const Tensor& self, IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset) {
  const auto offset = storage_offset.value_or(self.storage_offset());
  TORCH_CHECK(!storage_offset || *storage_offset >= 0, "negative offset ", offset);
  return self.as_strided_(size, stride, offset);
}

} // namespace at::native
