// symfix-golden: path=csrc/rolls.cpp
#include <ATen/ATen.h>
#include <torch/library.h>

#define OURS(name, function) m.impl(name, torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd, function))

namespace rolls {

// The same argument may be a size of one operator and no size of another.
at::Tensor first(const at::Tensor& x, c10::SymInt n, int64_t dim) {
  return x.narrow_symint(dim, 0, n);
}

at::Tensor chosen(const at::Tensor& x, int64_t n) {
  return x.transpose(n, 0);
}

at::Tensor stretched(const at::Tensor& x, c10::SymInt factor) {
  TORCH_CHECK(factor > 0, "stretched: expected a factor above 0, got ", factor);
  const auto rows = x.sym_size(0) * factor;
  return at::zeros_symint({rows}, x.options());
}

TORCH_LIBRARY(rolls, m) {
  m.def("first(Tensor x, SymInt n, int dim=0) -> Tensor", &first);
  m.def("chosen(Tensor x, int n) -> Tensor", &chosen);
  m.def(
      "stretched(Tensor x, \
      SymInt factor) -> Tensor");
  OURS("stretched", stretched);
}

} // namespace rolls
