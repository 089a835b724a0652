// symfix-golden: path=aten/src/ATen/native/Shapes.cpp
#include <ATen/ATen.h>

#include <tuple>

namespace at::native {

static Tensor make_rows(const Tensor& self, IntArrayRef sizes, int64_t rows) {
  return self.new_empty(sizes).narrow(0, 0, rows);
}

static std::tuple<SymDimVector, c10::SymInt> rows_and_sizes(const Tensor& self) {
  SymDimVector sizes(self.sym_sizes().begin(), self.sym_sizes().end());
  return std::make_tuple(std::move(sizes), self.sym_size(0));
}

static c10::SymInt length_of(const Tensor& self) {
  return self.sym_size(0) + 1;
}

// Only the kernel below calls it: what it gets is turned back into integers.
static Tensor counted(const Tensor& self) {
  auto [sizes, rows] = rows_and_sizes(self);
  const int64_t length = length_of(self).guard_int(__FILE__, __LINE__);
  auto result = make_rows(self, C10_AS_INTARRAYREF_SLOW_ALLOC(sizes), rows.guard_int(__FILE__, __LINE__));
  return length > 1 ? result : self;
}

Tensor _bincount_cpu(const Tensor& self, const std::optional<Tensor>& weights, int64_t minlength) {
  return counted(self);
}

Tensor trapz(const Tensor& y, const Tensor& x, int64_t dim) {
  auto parts = rows_and_sizes(x);
  auto shape = x.sym_sizes();
  auto rows = x.sym_size(0);
  if (y.is_mkldnn()) {
    return make_rows(y, C10_AS_INTARRAYREF_SLOW_ALLOC(shape), rows.guard_int(__FILE__, __LINE__)).narrow(0, 0, rows.guard_int(__FILE__, __LINE__) - 1);
  }
  return y.reshape_symint(std::get<0>(parts)).expand_symint(shape).narrow_symint(0, 0, std::get<1>(parts) * length_of(x) - rows);
}

} // namespace at::native
