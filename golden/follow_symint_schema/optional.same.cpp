#include <ATen/core/Tensor.h>

namespace at::native {

// The schema has SymInt? for the offset; an optional integer has no symbolic twin the flow can follow.
const Tensor& as_strided_(const Tensor& self, IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset) {
  const auto offset = storage_offset.value_or(0);
  return self.as_strided_(size, stride, offset);
}

// Already at its schema's signature.
Tensor broadcast_to_symint(const Tensor& self, SymIntArrayRef size) {
  return self.expand_symint(size);
}

} // namespace at::native
