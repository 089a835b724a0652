// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

bool same_storage_numel(const at::Tensor& one, const at::Tensor& other) {
  return one.storage().nbytes() / one.itemsize() == other.storage().nbytes() / other.itemsize();
}

at::Tensor flat_bytes(const at::Tensor& self) {
  const auto& storage = self.storage();
  const auto bytes = storage.nbytes();
  TORCH_CHECK(bytes == self.nbytes(), "a view of ", bytes, " bytes");
  return self.reshape({static_cast<int64_t>(bytes / self.itemsize())});
}
