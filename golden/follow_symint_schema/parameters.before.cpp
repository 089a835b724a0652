#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/select_backward_native.h>
#include <ATen/ops/tile_native.h>
#include <ATen/ops/zeros.h>

namespace at::native {

// The schema has SymInt[] and SymInt here since long; this kernel still guards each of them.
Tensor select_backward(const Tensor& grad, IntArrayRef input_sizes, int64_t dim, int64_t index) {
  auto whole = at::zeros(input_sizes, grad.options());
  whole.select(dim, index).copy_(grad);
  return whole;
}

Tensor tile(const Tensor& self, IntArrayRef reps) {
  const int64_t missing = self.dim() - static_cast<int64_t>(reps.size());
  if (missing > 0) {
    std::vector<int64_t> padded(missing, 1);
    for (const auto i : c10::irange(reps.size())) {
      padded.emplace_back(reps[i]);
    }
    return self.repeat(IntArrayRef(padded));
  }
  return self.repeat(reps);
}

} // namespace at::native
