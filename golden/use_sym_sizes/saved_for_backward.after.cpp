// symfix-golden: all-functions
#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/custom_function.h>

namespace flatten {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Flatten : torch::autograd::Function<Flatten> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& self, const at::Tensor& weight) {
    ctx->save_for_backward({self, weight});
    ctx->saved_data["shape"] = self.sym_sizes();
    ctx->saved_data["rows"] = self.sym_size(0);
    ctx->saved_data["scaled"] = weight.defined();
    return self.reshape_symint({self.sym_numel()});
  }

  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const auto& weight = saved[1];
    const auto shape = ctx->saved_data["shape"].toSymIntVector();
    const c10::SymInt rows = ctx->saved_data["rows"].toSymInt();
    auto grad = grads[0].reshape_symint(shape).narrow_symint(0, 0, rows);
    return {grad.expand_symint({weight.sym_size(0), rows}), at::Tensor()};
  }
};

at::Tensor flatten(const at::Tensor& self, const at::Tensor& weight) {
  return Flatten::apply(self, weight);
}

} // namespace flatten
