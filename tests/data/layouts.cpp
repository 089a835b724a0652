// A composite operator of our own that keeps its sizes in a struct and hands them to overloads, on concrete sizes;
// scripts/planted-faults plants faults in what symfix makes of it.
#include <ATen/core/Tensor.h>
#include <ATen/TensorOperators.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/ops/cumulative_trapezoid_native.h>

#include <algorithm>
#include <vector>

namespace at::native {

namespace {

struct Spans {
  int64_t count = 0;
  std::vector<int64_t> shape;
};

Spans spans_of(const Tensor& heights, int64_t dim) {
  Spans spans;
  spans.count = std::max<int64_t>(heights.size(dim) - 1, 0);
  spans.shape.assign(heights.dim(), 1);
  spans.shape[dim] = spans.count;
  return spans;
}

Tensor part(const Tensor& self, int64_t dim, int64_t length) {
  return self.narrow(dim, 0, length);
}

Tensor part(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  return self.narrow(dim, start, length);
}

} // namespace

Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, int64_t dim) {
  dim = maybe_wrap_dim(dim, y);
  TORCH_CHECK(
      y.scalar_type() != kBool && x.scalar_type() != kBool,
      "cumulative_trapezoid: no sums over truth values");
  const auto spans = spans_of(y, dim);
  const auto along = x.dim() == 1 ? 0 : dim;
  auto widths = part(x, along, 1, spans.count) - part(x, along, spans.count);
  if (x.dim() == 1) {
    widths = widths.view(spans.shape);
  }
  const auto heights = part(y, dim, 1, spans.count) + part(y, dim, spans.count);
  return (heights * widths).cumsum(dim) / 2.;
}

} // namespace at::native
