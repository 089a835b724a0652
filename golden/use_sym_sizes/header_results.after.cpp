// symfix-golden: all-functions
#include <ATen/ATen.h>
#include <ATen/ExpandUtils.h>
#include <c10/util/accumulate.h>

namespace at::native {

// What a helper of torch's headers gives is known by its declaration, and so is its form on SymInts.
Tensor pairs_of_rows(const Tensor& a, const Tensor& b) {
  SymIntArrayRef batch_a(a.sym_sizes().data(), a.dim() - 2);
  SymIntArrayRef batch_b(b.sym_sizes().data(), b.dim() - 2);
  std::vector<c10::SymInt> batch = infer_size_symint(batch_a, batch_b);
  const c10::SymInt together = c10::multiply_integers(batch);
  std::vector<c10::SymInt> shape(batch);
  shape.insert(shape.end(), {a.sym_size(-2), b.sym_size(-2)});
  std::vector<c10::SymInt> whole(std::move(shape));
  return a.expand_symint(whole).reshape_symint({together, -1});
}

Tensor along(const Tensor& self, const Tensor& index, int64_t dim) {
  SymDimVector wanted{self.sym_sizes()};
  wanted[dim] = index.sym_size(dim);
  auto shape = at::infer_size_symint(wanted, index.sym_sizes());
  const auto wide = at::broadcast_to_symint(index, shape);
  shape = at::infer_size_symint(index.sym_sizes(), self.sym_sizes());
  return at::broadcast_to_symint(self, shape).gather(dim, wide);
}

} // namespace at::native
