#include <ATen/core/Tensor.h>

namespace at::native {

// None of these takes what the schema takes: which of them it means is for a person to say.
Tensor broadcast_to(const Tensor& self, int64_t size) {
  return self.expand(size);
}

Tensor broadcast_to(const Tensor& self, const Tensor& other) {
  return self.expand(other.sym_sizes().size());
}

// Already at its schema's signature.
Tensor tile_symint(const Tensor& self, SymIntArrayRef reps) {
  return self.repeat_symint(reps);
}

} // namespace at::native
