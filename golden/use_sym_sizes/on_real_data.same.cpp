// symfix-golden: all-functions
#include <ATen/Parallel.h>
#include <ATen/TensorIterator.h>
#include <ATen/core/Tensor.h>

void pointers(const at::Tensor& self, float* out) {
  const auto* data = self.const_data_ptr<float>();
  std::copy(data, data + self.numel(), out);
}

void threads(const at::Tensor& self) {
  at::parallel_for(0, self.numel(), 1024, [&](int64_t begin, int64_t end) { TORCH_CHECK(end <= self.numel()); });
}

void iterators(at::Tensor& self, const at::Tensor& other) {
  auto iter = at::TensorIteratorConfig().add_output(self).add_const_input(other).build();
  TORCH_CHECK(iter.numel() == self.numel());
}

at::Tensor by_device(const at::Tensor& self) {
  if (self.is_cuda()) {
    return self.view({self.numel()});
  }
  return self;
}
