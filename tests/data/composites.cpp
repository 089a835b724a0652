// Composite operators of our own, on concrete sizes; scripts/planted-faults plants faults in what symfix makes of them.
#include <ATen/core/Tensor.h>
#include <ATen/TensorOperators.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/Reduction.h>
#include <ATen/ops/cross_entropy_loss_native.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/nll_loss_nd.h>
#include <ATen/ops/trapezoid_native.h>
#include <ATen/ops/zeros.h>
#include <c10/util/SmallBuffer.h>

#include <algorithm>

namespace at::native {

namespace {

// The sum of both neighbours' heights times their distance.
Tensor between(const Tensor& heights, const Tensor& widths, int64_t dim) {
  const auto left = heights.slice(dim, 0, -1);
  const auto right = heights.slice(dim, 1);
  return ((left + right) * widths).sum(dim) / 2.;
}

} // namespace

Tensor trapezoid(const Tensor& y, const Tensor& x, int64_t dim) {
  dim = maybe_wrap_dim(dim, y);
  TORCH_CHECK(
      y.scalar_type() != kBool && x.scalar_type() != kBool,
      "trapezoid: no sums over truth values");
  if (y.size(dim) == 0) {
    auto sizes = y.sizes().vec();
    sizes.erase(sizes.begin() + dim);
    return at::zeros(sizes, y.options());
  }
  if (x.dim() == 1) {
    TORCH_CHECK(
        x.size(0) == y.size(dim),
        "trapezoid: ", x.size(0), " places for ", y.size(dim), " heights, shapes ", x.sizes(), " and ", y.sizes());
    auto shape = SmallBuffer<int64_t, 5>(y.dim());
    std::fill(shape.begin(), shape.end(), 1);
    shape[dim] = x.size(0) - 1;
    return between(y, (x.slice(0, 1) - x.slice(0, 0, -1)).view(shape), dim);
  }
  const auto widths = x.slice(dim, 1) - x.slice(dim, 0, -1);
  return between(y, widths, dim);
}

Tensor cross_entropy_loss_symint(
    const Tensor& self,
    const Tensor& target,
    const std::optional<Tensor>& weight,
    int64_t reduction,
    c10::SymInt ignore_index,
    double label_smoothing) {
  const auto class_dim = self.dim() == 1 ? 0 : 1;
  const auto classes = self.size(class_dim);
  TORCH_CHECK_VALUE(
      !weight.has_value() || weight->numel() == classes,
      "cross_entropy: expected one weight for each of ", classes, " classes, got ", weight->sizes());
  const auto scores = at::log_softmax(self, class_dim, self.scalar_type());
  if (self.sizes() != target.sizes()) {
    const auto loss = at::nll_loss_nd_symint(scores, target, weight, reduction, ignore_index);
    if (label_smoothing == 0.0) {
      return loss;
    }
    TORCH_CHECK(reduction != Reduction::None, "cross_entropy: smoothed class numbers need a reduction");
    const auto left_out = target == std::move(ignore_index);
    const auto even = -scores.mean(class_dim).masked_fill(left_out, 0.0).sum();
    return loss * (1 - label_smoothing) + even * label_smoothing;
  }
  auto wanted = target;
  if (label_smoothing > 0.0) {
    wanted = target * (1 - label_smoothing) + label_smoothing / classes;
  }
  auto loss = scores * wanted;
  if (weight.has_value()) {
    auto shape = SmallBuffer<int64_t, 5>(self.dim());
    std::fill(shape.begin(), shape.end(), 1);
    shape[class_dim] = weight->size(0);
    loss = loss * weight->view(shape);
  }
  loss = -loss.sum(class_dim);
  switch (reduction) {
    case Reduction::None:
      return loss;
    case Reduction::Sum:
      return loss.sum();
    default:
      return loss.sum() / (self.numel() / classes);
  }
}

} // namespace at::native
