// symfix-golden: path=aten/src/ATen/native/Shapes.cpp
#include <ATen/ATen.h>

namespace at::native {

template <typename T>
static void check_groups(const Tensor& weight, const T& channels, int64_t groups) {
  TORCH_CHECK(groups > 0 && channels % groups == 0, "cannot split ", channels);
  TORCH_CHECK(at::symint::numel<T>(weight) == channels, "weight of size ", at::symint::sizes<T>(weight));
}

template <typename T>
static Tensor last_part(const Tensor& self, ArrayRef<T> ends, int64_t dim) {
  T start(0);
  Tensor part = self;
  for (const auto i : c10::irange(ends.size())) {
    auto end = ends[i];
    part = at::symint::slice<T>(self, dim, start, end);
    start = end;
  }
  return part;
}

template <typename T>
void set_layout(const Tensor& self, ArrayRef<T> size, ArrayRef<T> stride, T&& offset) {
  auto* impl = self.unsafeGetTensorImpl();
  impl->set_sizes_and_strides(size, stride, std::forward<T>(offset));
}

Tensor ravel(const Tensor& self) {
  auto channels = self.sym_size(1);
  check_groups(self, channels, 2);
  return last_part(self, self.sym_sizes(), 0).view_symint({channels, -1});
}

Tensor trapz(const Tensor& y, const Tensor& x, int64_t dim) {
  set_layout(y, x.sym_sizes(), x.sym_strides(), x.sym_storage_offset());
  set_layout(x, y.sym_sizes(), y.sym_strides(), c10::SymInt(0));
  return y;
}

// It is made for integers here, as before.
Tensor _bincount_cpu(const Tensor& self, const std::optional<Tensor>& weights, int64_t minlength) {
  check_groups(self, minlength, 1);
  return last_part(self, self.sizes(), 0);
}

} // namespace at::native
