// symfix-golden: path=aten/src/ATen/native/Shapes.cpp
#include <ATen/ATen.h>

namespace at::native {

struct TensorImpl {
  void set_sizes_and_strides(IntArrayRef sizes, IntArrayRef strides) {}
};

// This method has no form on SymInts.
Tensor ravel(const Tensor& self) {
  auto* impl = self.unsafeGetTensorImpl();
  impl->set_storage_offset(self.storage_offset());
  return self;
}

// Another class of the name; and what several pointers in a row point to is not known.
Tensor trapz(const Tensor& y, const Tensor& x, int64_t dim) {
  TensorImpl own;
  own.set_sizes_and_strides(y.sizes(), y.strides());
  c10::TensorImpl* impls[] = {y.unsafeGetTensorImpl()};
  impls[0]->set_sizes_and_strides(x.sizes(), x.strides());
  return y;
}

} // namespace at::native
