#include <ATen/core/Tensor.h>
#include <ATen/ops/as_strided_native.h>

namespace at::native {

const Tensor& as_strided__symint(const Tensor& self, SymIntArrayRef size, SymIntArrayRef stride, std::optional<c10::SymInt> storage_offset) {
  const auto offset = storage_offset.value_or(self.sym_storage_offset());
  TORCH_CHECK(!storage_offset || *storage_offset >= 0, "negative offset ", offset);
  return self.as_strided__symint(size, stride, offset);
}

} // namespace at::native
