// An operator composed of torch's own: `torch.ops.examples.distances(x, y)`.
#include <ATen/core/Tensor.h>
#include <torch/library.h>

namespace {

// The distance of each row of x to each row of y.
at::Tensor distances(const at::Tensor& x, const at::Tensor& y) {
  TORCH_CHECK(x.dim() == 2 && y.dim() == 2, "distances: expected two matrices");
  TORCH_CHECK(x.size(1) == y.size(1), "distances: rows differ in length");
  const auto rows = x.size(0);
  const auto columns = y.size(0);
  auto left = x.unsqueeze(1).expand({rows, columns, x.size(1)});
  auto right = y.unsqueeze(0).expand({rows, columns, y.size(1)});
  return left.sub(right).norm(2, -1);
}

} // namespace

TORCH_LIBRARY(examples, m) {
  m.def("distances(Tensor x, Tensor y) -> Tensor", &distances);
}
