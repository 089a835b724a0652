// symfix-golden: all-functions
#include <ATen/ATen.h>
#include <ATen/native/Pool.h>
#include <c10/util/irange.h>

#include <array>
#include <functional>

namespace at::native {

// The helper has an overload on SymInts, and so do both halves of what it gives.
Tensor padded_alike(const Tensor& input, const Tensor& weight, IntArrayRef stride) {
  auto sizes = input.sym_sizes();
  auto kernel = weight.sym_sizes();
  SmallVector<c10::SymInt, 2 * kDimVectorStaticSize> padding(static_cast<size_t>(2 * stride.size()));
  SymDimVector left(static_cast<size_t>(stride.size()));
  for (const auto i : c10::irange(stride.size())) {
    auto both = pooling_same_mode_padding_lr(sizes[i + 2], kernel[i + 2], stride[i], 1);
    left[i] = both.first;
    padding[2 * i] = both.first;
    padding[2 * i + 1] = both.second;
  }
  return at::constant_pad_nd_symint(input, padding, 0).expand_symint(left);
}

Tensor two_rows(const Tensor& self) {
  auto rows = std::array<c10::SymInt, 2>{{self.sym_size(0), 1}};
  std::array<c10::SymInt, 1> first{{self.sym_size(0)}};
  return self.view_symint(rows).expand_symint({{self.sym_size(0), 2}}).view_symint(first);
}

Tensor wrapped_rows(const std::vector<std::reference_wrapper<const Tensor>>& tensors) {
  std::vector<c10::SymInt> shape(tensors.size());
  for (const auto i : c10::irange(tensors.size())) {
    shape[i] = tensors[i].get().sym_numel();
  }
  return tensors[0].get().expand_symint(shape);
}

} // namespace at::native
