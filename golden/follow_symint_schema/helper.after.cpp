#include <ATen/core/Tensor.h>
#include <ATen/ops/broadcast_to_native.h>
#include <ATen/ops/select_scatter_native.h>

namespace at::native {

namespace {

Tensor picked(const Tensor& from, int64_t dim, c10::SymInt index) {
  return from.select_symint(dim, index);
}

} // namespace

Tensor select_scatter_symint(const Tensor& self, const Tensor& src, int64_t dim, c10::SymInt index) {
  auto output = self.clone();
  auto place = picked(output, dim, index);
  place.copy_(src);
  return output;
}

Tensor broadcast_to(const Tensor& self, IntArrayRef size) {
  return self.expand(size);
}

static Tensor broadcast_twice(const Tensor& self, IntArrayRef size) {
  return native::broadcast_to(self, size);
}

} // namespace at::native
