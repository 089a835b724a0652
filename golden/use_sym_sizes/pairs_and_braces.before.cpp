// symfix-golden: all-functions
#include <ATen/ATen.h>
#include <ATen/native/Pool.h>
#include <c10/util/irange.h>

#include <array>
#include <functional>

namespace at::native {

// The helper has an overload on SymInts, and so do both halves of what it gives.
Tensor padded_alike(const Tensor& input, const Tensor& weight, IntArrayRef stride) {
  auto sizes = input.sizes();
  auto kernel = weight.sizes();
  SmallVector<int64_t, 2 * kDimVectorStaticSize> padding(static_cast<size_t>(2 * stride.size()));
  DimVector left(static_cast<size_t>(stride.size()));
  for (const auto i : c10::irange(stride.size())) {
    auto both = pooling_same_mode_padding_lr(sizes[i + 2], kernel[i + 2], stride[i], 1);
    left[i] = both.first;
    padding[2 * i] = both.first;
    padding[2 * i + 1] = both.second;
  }
  return at::constant_pad_nd(input, padding, 0).expand(left);
}

Tensor two_rows(const Tensor& self) {
  auto rows = std::array<int64_t, 2>{{self.size(0), 1}};
  std::array<int64_t, 1> first{{self.size(0)}};
  return self.view(rows).expand({{self.size(0), 2}}).view(first);
}

Tensor wrapped_rows(const std::vector<std::reference_wrapper<const Tensor>>& tensors) {
  std::vector<int64_t> shape(tensors.size());
  for (const auto i : c10::irange(tensors.size())) {
    shape[i] = tensors[i].get().numel();
  }
  return tensors[0].get().expand(shape);
}

} // namespace at::native
