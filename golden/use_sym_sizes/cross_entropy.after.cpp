// symfix-golden: path=aten/src/ATen/native/LossNLL.cpp
#include <ATen/core/Tensor.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/cross_entropy_loss_native.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/nll_loss_nd.h>
#include <c10/util/DimVector.h>
#include <c10/util/SmallBuffer.h>

#include <algorithm>

namespace at::native {

// Soft targets: one probability for each class and place.
static Tensor soft_target_loss(
    const Tensor& logits,
    const Tensor& target,
    const Tensor& weight,
    int64_t reduction) {
  const auto class_dim = logits.dim() == 1 ? 0 : 1;
  const auto classes = logits.sym_size(class_dim);
  TORCH_CHECK(
      !weight.defined() || (weight.dim() == 1 && weight.sym_numel() == classes),
      "expected one weight for each of ", classes, " classes, got weights of shape ", weight.sym_sizes());

  auto scores = at::log_softmax(logits, class_dim, logits.scalar_type());
  if (weight.defined()) {
    auto shape = c10::SymDimVector(logits.dim());
    std::fill(shape.begin(), shape.end(), 1);
    shape[class_dim] = weight.sym_size(0);
    scores = scores * weight.view_symint(shape);
  }
  auto loss = -(scores * target).sum(class_dim);
  if (reduction == Reduction::None) {
    return loss;
  }
  return reduction == Reduction::Mean ? loss.mean() : loss.sum();
}

Tensor cross_entropy_loss_symint(
    const Tensor& self,
    const Tensor& target,
    const std::optional<Tensor>& weight,
    int64_t reduction,
    c10::SymInt ignore_index,
    double label_smoothing) {
  if (self.sym_sizes() == target.sym_sizes()) {
    TORCH_CHECK(label_smoothing == 0.0, "smoothed labels are not for soft targets here");
    return soft_target_loss(self, target, weight.value_or(Tensor()), reduction);
  }
  const auto class_dim = self.dim() == 1 ? 0 : 1;
  auto scores = at::log_softmax(self, class_dim, self.scalar_type());
  return at::nll_loss_nd_symint(scores, target, weight, reduction, std::move(ignore_index));
}

} // namespace at::native
