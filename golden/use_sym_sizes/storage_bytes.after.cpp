// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

bool same_storage_numel(const at::Tensor& one, const at::Tensor& other) {
  return one.storage().sym_nbytes() / one.itemsize() == other.storage().sym_nbytes() / other.itemsize();
}

at::Tensor flat_bytes(const at::Tensor& self) {
  const auto& storage = self.storage();
  const auto bytes = storage.sym_nbytes();
  TORCH_CHECK(bytes == self.sym_nbytes(), "a view of ", bytes, " bytes");
  return self.reshape_symint({(bytes / self.itemsize())});
}
