// symfix-golden: path=torch/csrc/autograd/FunctionsManual.cpp
#include <ATen/core/Tensor.h>

namespace torch::autograd::generated::details {

at::Tensor narrow_first_backward(const at::Tensor& grad, const at::Tensor& self) {
  return grad.expand_symint({self.sym_size(0), -1}).reshape_symint(self.sym_sizes());
}

} // namespace torch::autograd::generated::details

namespace torch::autograd {

at::Tensor elsewhere(const at::Tensor& grad) {
  return grad.view({grad.numel()});
}

} // namespace torch::autograd
