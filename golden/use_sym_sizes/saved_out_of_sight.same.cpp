// symfix-golden: all-functions
#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/custom_function.h>

#include <string>

namespace flatten {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

std::vector<int64_t> shape_of(AutogradContext* ctx);

struct HandedOn : torch::autograd::Function<HandedOn> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& self) {
    ctx->saved_data["shape"] = self.sizes();
    return self;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    return {grads[0].reshape(shape_of(ctx))};
  }
};

struct ByName : torch::autograd::Function<ByName> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& self) {
    ctx->saved_data["shape"] = self.sizes();
    return self;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const std::string name = "shape";
    return {grads[0].reshape(ctx->saved_data[name].toIntVector())};
  }
};

struct NoTwin : torch::autograd::Function<NoTwin> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& self) {
    ctx->saved_data["shape"] = self.sizes();
    return self;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    return {grads[0].reshape(ctx->saved_data["shape"].toDimVector())};
  }
};

struct CountedBy : torch::autograd::Function<CountedBy> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& self) {
    ctx->saved_data["rows"] = self.size(0);
    return self;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    for (int64_t i = 0; i < ctx->saved_data["rows"].toInt(); ++i) {
      grads[0][i].neg_();
    }
    return {grads[0]};
  }
};

struct Elsewhere : torch::autograd::Function<Elsewhere> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& self) {
    ctx->saved_data["rows"] = self.size(0);
    return self;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads);
};

} // namespace flatten
