#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

namespace warps {

// Each of the `rows` rows is the sum of x over its rows.
at::Tensor spread_cpu(const at::Tensor& x, int64_t rows) {
  TORCH_CHECK(rows >= 0, "spread: expected a number of rows, got ", rows);
  return x.sum(0, true).expand({rows, x.size(1)}).contiguous();
}

at::Tensor spread_meta(const at::Tensor& x, int64_t rows) {
  TORCH_CHECK(rows >= 0, "spread: expected a number of rows, got ", rows);
  return at::empty({rows, x.size(1)}, x.options());
}

class Spread : public torch::autograd::Function<Spread> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x, int64_t rows) {
    at::AutoDispatchBelowADInplaceOrView below;
    ctx->saved_data["before"] = x.size(0);
    static auto op = c10::Dispatcher::singleton()
                         .findSchemaOrThrow("warps::spread", "")
                         .typed<at::Tensor(const at::Tensor&, int64_t)>();
    return op.call(x, rows);
  }

  static torch::autograd::variable_list backward(
      torch::autograd::AutogradContext* ctx,
      const torch::autograd::variable_list& grads) {
    const auto before = ctx->saved_data["before"].toInt();
    return {grads[0].sum(0, true).expand({before, grads[0].size(1)}), at::Tensor()};
  }
};

at::Tensor spread_autograd(const at::Tensor& x, int64_t rows) {
  return Spread::apply(x, rows);
}

at::Tensor spread_twice(const at::Tensor& x, int64_t rows) {
  const auto doubled = rows * 2;
  return x.sum(0, true).expand({doubled, x.size(1)}).contiguous();
}

at::Tensor picked_cpu(const at::Tensor& x, int64_t rows) {
  return x.narrow(0, 0, rows).clone();
}

TORCH_LIBRARY(warps, m) {
  m.def("spread(Tensor x, int rows) -> Tensor");
  m.def("spread_twice(Tensor x, int rows) -> Tensor", &spread_twice);
  m.def("picked(Tensor x, int rows) -> Tensor");
}

TORCH_LIBRARY_IMPL(warps, CPU, m) {
  m.impl("spread", &spread_cpu);
  m.impl("picked", &picked_cpu);
}

TORCH_LIBRARY_IMPL(warps, Meta, m) {
  m.impl("spread", &spread_meta);
}

TORCH_LIBRARY_IMPL(warps, Autograd, m) {
  m.impl("spread", &spread_autograd);
}

} // namespace warps
