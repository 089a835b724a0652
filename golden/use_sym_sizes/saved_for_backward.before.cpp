// symfix-golden: all-functions
#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/custom_function.h>

namespace flatten {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Flatten : torch::autograd::Function<Flatten> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& self, const at::Tensor& weight) {
    ctx->save_for_backward({self, weight});
    ctx->saved_data["shape"] = self.sizes();
    ctx->saved_data["rows"] = self.size(0);
    ctx->saved_data["scaled"] = weight.defined();
    return self.reshape({self.numel()});
  }

  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const auto& weight = saved[1];
    const auto shape = ctx->saved_data["shape"].toIntVector();
    const int64_t rows = ctx->saved_data["rows"].toInt();
    auto grad = grads[0].reshape(shape).narrow(0, 0, rows);
    return {grad.expand({weight.size(0), rows}), at::Tensor()};
  }
};

at::Tensor flatten(const at::Tensor& self, const at::Tensor& weight) {
  return Flatten::apply(self, weight);
}

} // namespace flatten
