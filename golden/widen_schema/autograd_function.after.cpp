// symfix-golden: path=csrc/spread.cpp
#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

namespace spreads {

at::Tensor spread_meta(const at::Tensor& x, c10::SymInt rows, at::SymIntArrayRef tail, std::optional<c10::SymInt> last) {
  auto size = tail.vec();
  size.insert(size.begin(), rows);
  size.push_back(last.has_value() ? *last : x.sym_size(0));
  return at::empty_symint(size, x.options());
}

at::Tensor spread_cpu(const at::Tensor& x, int64_t rows, at::IntArrayRef tail, std::optional<int64_t> last) {
  return at::zeros({rows}, x.options());
}

struct Spread : public torch::autograd::Function<Spread> {
  static at::Tensor forward(
      torch::autograd::AutogradContext* ctx,
      const at::Tensor& x,
      c10::SymInt rows,
      at::SymIntArrayRef tail,
      std::optional<c10::SymInt> last) {
    at::AutoDispatchBelowADInplaceOrView below;
    ctx->saved_data["rows"] = rows;
    static auto handle = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("spreads::spread", "")
                             .typed<at::Tensor(const at::Tensor&, c10::SymInt, at::SymIntArrayRef, std::optional<c10::SymInt>)>();
    handle.call(x, 3, x.sym_sizes(), last);
    return handle.call(x, rows, tail, last);
  }

  static torch::autograd::variable_list backward(
      torch::autograd::AutogradContext* ctx,
      const torch::autograd::variable_list& grads) {
    const c10::SymInt rows = ctx->saved_data["rows"].toSymInt();
    return {grads[0].narrow_symint(0, 0, rows), at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

at::Tensor spread_autograd(const at::Tensor& x, c10::SymInt rows, at::SymIntArrayRef tail, std::optional<c10::SymInt> last) {
  return Spread::apply(x, rows, tail, last);
}

TORCH_LIBRARY(spreads, m) {
  m.def("spread(Tensor x, SymInt rows, SymInt[] tail, SymInt? last=None) -> Tensor");
}

TORCH_LIBRARY_IMPL(spreads, CPU, m) {
  m.impl("spread", &spread_cpu);
}

TORCH_LIBRARY_IMPL(spreads, Meta, m) {
  m.impl("spread", &spread_meta);
}

TORCH_LIBRARY_IMPL(spreads, Autograd, m) {
  m.impl("spread", &spread_autograd);
}

} // namespace spreads
