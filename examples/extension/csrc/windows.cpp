#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

namespace windows {

// The sum of the last `width` elements up to each place of the last dimension.
at::Tensor window_sum_cpu(const at::Tensor& x, int64_t width) {
  TORCH_CHECK(x.dim() > 0 && x.scalar_type() == at::kFloat, "window_sum: expected floats");
  TORCH_CHECK(width > 0, "window_sum: width must be positive");
  auto input = x.contiguous();
  auto result = at::empty(input.sizes(), input.options());
  const int64_t length = input.size(-1);
  const float* from = input.data_ptr<float>();
  float* to = result.data_ptr<float>();
  for (int64_t row = 0; row < input.numel(); row += length) {
    for (int64_t at = 0; at < length; ++at) {
      float sum = 0;
      for (int64_t back = 0; back < width && back <= at; ++back) {
        sum += from[row + at - back];
      }
      to[row + at] = sum;
    }
  }
  return result;
}

at::Tensor window_sum_meta(const at::Tensor& x, c10::SymInt width) {
  TORCH_CHECK(x.dim() > 0, "window_sum: expected at least one dimension");
  return at::empty(x.sizes(), x.options());
}

TORCH_LIBRARY(windows, m) {
  m.def("window_sum(Tensor x, SymInt width) -> Tensor");
}

TORCH_LIBRARY_IMPL(windows, CPU, m) {
  m.impl("window_sum", &window_sum_cpu);
}

TORCH_LIBRARY_IMPL(windows, Meta, m) {
  m.impl("window_sum", &window_sum_meta);
}

} // namespace windows
