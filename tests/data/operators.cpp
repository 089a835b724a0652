// Operator functions in the shapes that rules look for; the fuzzer breaks them.
#include <ATen/core/Tensor.h>
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/WrapDimUtils.h>
#include <c10/util/SmallBuffer.h>
#include <c10/util/irange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

namespace at::native {

static int64_t rows_of(const Tensor& matrix, int64_t at_least) {
  const int64_t rows = matrix.size(0);
  return std::max<int64_t>(rows, at_least);
}

Tensor flatten_weighted(const Tensor& self, const std::optional<Tensor>& weight, int64_t dim) {
  dim = maybe_wrap_dim(dim, self.dim());
  const auto classes = self.size(dim);
  TORCH_CHECK(
      !weight.has_value() || (weight->dim() == 1 && weight->numel() == classes),
      "weight has ", weight->sizes(), " for ", classes, " classes");
  if (self.numel() == 0) {
    return at::zeros({0}, self.options());
  }
  auto shape = SmallBuffer<int64_t, 5>(self.dim());
  std::fill(shape.begin(), shape.end(), 1);
  shape[dim] = classes;
  return weight.has_value() ? self * weight->view(shape) : self.reshape({-1, classes});
}

std::vector<Tensor> pieces(const Tensor& self, int64_t parts) {
  std::vector<Tensor> result;
  const auto step = (self.size(0) + parts - 1) / parts;
  for (const auto i : c10::irange(parts)) {
    result.push_back(self.narrow(0, i * step, std::min(step, self.size(0) - i * step)));
  }
  return result;
}

Tensor pad_to(const Tensor& self, const Tensor& other) {
  TORCH_CHECK(self.sizes() == other.sizes(), "pad_to: ", self.sizes(), " against ", other.sizes());
  auto shape = self.sizes().vec();
  shape.back() = rows_of(other, 2) * self.size(-1);
  auto scale = static_cast<double>(self.numel()) / other.numel();
  auto grow = [&](int64_t by) { return self.stride(0) + by * other.size(1); };
  return self.expand(shape).mul(scale).as_strided({other.size(0), grow(3)}, self.strides());
}

void fill_rows(Tensor& self, double value) {
  const int64_t rows = self.size(0), columns = self.size(1);
  auto* data = self.data_ptr<double>();
  at::parallel_for(0, rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      data[i * columns] = value;
    }
  });
}

Tensor mean_or_nothing(const Tensor& self, bool keep) {
  int64_t count = 1;
  for (auto size : self.sizes()) {
    count *= size;
  }
  if (TORCH_GUARD_SIZE_OBLIVIOUS(self.sym_numel().sym_eq(0))) {
    return at::empty_symint(self.sym_sizes(), self.options());
  } else if (count > 1 && keep) {
    return self.sum().div(count).view({1, 1});
  }
  switch (self.dim()) {
    case 0:
      return self;
    default:
      return self.select(0, self.size(0) - 1);
  }
}

} // namespace at::native
