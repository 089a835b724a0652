// symfix-golden: path=csrc/turns.cpp
#include <ATen/ATen.h>
#include <torch/library.h>

namespace turns {

// What an argument is called says nothing.
at::Tensor turned(const at::Tensor& x, int64_t size, int64_t length, int64_t n) {
  auto y = x.transpose(size, 0);
  for (int64_t i = 0; i < n; ++i) {
    y = y + 1;
  }
  return length == 0 ? y : y.sum(length);
}

at::Tensor many(const at::Tensor& x, c10::SymInt n) {
  return x.expand_symint({n});
}

TORCH_LIBRARY(turns, m) {
  m.def("turned(Tensor x, int size, int length, int n) -> Tensor", &turned);
  m.def("many(Tensor x, SymInt n) -> Tensor", &many);
}

} // namespace turns
