// symfix-golden: path=aten/src/ATen/native/Shapes.cpp
#include <ATen/ATen.h>

namespace at::native {

static DimVector doubled(IntArrayRef strides) {
  DimVector longer(strides.begin(), strides.end());
  longer.back() *= 2;
  return longer;
}

Tensor ravel(const Tensor& self) {
  auto shared = at::detail::make_tensor<TensorImpl>(
      c10::TensorImpl::VIEW, Storage(self.storage()), self.key_set(), self.dtype());
  auto* impl = shared.unsafeGetTensorImpl();
  impl->set_sizes_and_strides(self.sizes(), doubled(self.strides()), self.storage_offset());
  return shared;
}

Tensor trapz(const Tensor& y, const Tensor& x, int64_t dim) {
  auto made = c10::make_intrusive<c10::TensorImpl>(Storage(y.storage()), y.key_set(), y.dtype());
  made->set_sizes_and_strides(y.sizes(), y.strides());
  return Tensor(std::move(made));
}

} // namespace at::native
