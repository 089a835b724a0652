#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/select_backward_native.h>
#include <ATen/ops/tile_native.h>
#include <ATen/ops/zeros.h>

namespace at::native {

// The schema has SymInt[] and SymInt here since long; this kernel still guards each of them.
Tensor select_backward_symint(const Tensor& grad, SymIntArrayRef input_sizes, int64_t dim, c10::SymInt index) {
  auto whole = at::zeros_symint(input_sizes, grad.options());
  whole.select_symint(dim, index).copy_(grad);
  return whole;
}

Tensor tile_symint(const Tensor& self, SymIntArrayRef reps) {
  const int64_t missing = self.dim() - static_cast<int64_t>(reps.size());
  if (missing > 0) {
    std::vector<c10::SymInt> padded(missing, 1);
    for (const auto i : c10::irange(reps.size())) {
      padded.emplace_back(reps[i]);
    }
    return self.repeat_symint(SymIntArrayRef(padded));
  }
  return self.repeat_symint(reps);
}

} // namespace at::native
