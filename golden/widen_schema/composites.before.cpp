// symfix-golden: path=csrc/rolls.cpp
#include <ATen/ATen.h>
#include <torch/library.h>

#define OURS(name, function) m.impl(name, torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd, function))

namespace rolls {

// The same argument may be a size of one operator and no size of another.
at::Tensor first(const at::Tensor& x, int64_t n, int64_t dim) {
  return x.narrow(dim, 0, n);
}

at::Tensor chosen(const at::Tensor& x, int64_t n) {
  return x.transpose(n, 0);
}

at::Tensor stretched(const at::Tensor& x, int64_t factor) {
  TORCH_CHECK(factor > 0, "stretched: expected a factor above 0, got ", factor);
  const auto rows = x.size(0) * factor;
  return at::zeros({rows}, x.options());
}

TORCH_LIBRARY(rolls, m) {
  m.def("first(Tensor x, int n, int dim=0) -> Tensor", &first);
  m.def("chosen(Tensor x, int n) -> Tensor", &chosen);
  m.def(
      "stretched(Tensor x, \
      int factor) -> Tensor");
  OURS("stretched", stretched);
}

} // namespace rolls
