// symfix-golden: path=csrc/spread.cpp
#include <ATen/core/Tensor.h>
#include <ATen/core/op_registration/op_registration.h>
#include <torch/csrc/autograd/custom_function.h>

static at::Tensor laid_over(const at::Tensor& self, const at::Tensor& other) {
  return self.expand(other.sizes());
}

class Spread : public torch::autograd::Function<Spread> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor self, at::Tensor other) {
    ctx->save_for_backward({other});
    return laid_over(self, other).view({self.numel(), -1});
  }

  static torch::autograd::variable_list backward(
      torch::autograd::AutogradContext* ctx,
      torch::autograd::variable_list grads) {
    return {grads[0].sum_to_size({1}), at::Tensor()};
  }
};

static at::Tensor spread(const at::Tensor& self, const at::Tensor& other) {
  return Spread::apply(self, other);
}

static at::Tensor spread_cpu(const at::Tensor& self, const at::Tensor& other) {
  return self.expand(other.sizes());
}

static at::Tensor spread_meta(const at::Tensor& self, const at::Tensor& other) {
  return self.expand(other.sizes());
}

static auto registry =
    torch::RegisterOperators()
        .op("spread::spread", &spread)
        .op("spread::split",
            torch::RegisterOperators::options()
                .kernel<decltype(spread_cpu), &spread_cpu>(c10::DispatchKey::CPU)
                .kernel<decltype(spread_meta), &spread_meta>(c10::DispatchKey::Meta));
