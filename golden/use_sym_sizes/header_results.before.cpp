// symfix-golden: all-functions
#include <ATen/ATen.h>
#include <ATen/ExpandUtils.h>
#include <c10/util/accumulate.h>

namespace at::native {

// What a helper of torch's headers gives is known by its declaration, and so is its form on SymInts.
Tensor pairs_of_rows(const Tensor& a, const Tensor& b) {
  IntArrayRef batch_a(a.sizes().data(), a.dim() - 2);
  IntArrayRef batch_b(b.sizes().data(), b.dim() - 2);
  std::vector<int64_t> batch = infer_size(batch_a, batch_b);
  const int64_t together = c10::multiply_integers(batch);
  std::vector<int64_t> shape(batch);
  shape.insert(shape.end(), {a.size(-2), b.size(-2)});
  std::vector<int64_t> whole(std::move(shape));
  return a.expand(whole).reshape({together, -1});
}

Tensor along(const Tensor& self, const Tensor& index, int64_t dim) {
  DimVector wanted{self.sizes()};
  wanted[dim] = index.size(dim);
  auto shape = at::infer_size(wanted, index.sizes());
  const auto wide = at::broadcast_to(index, shape);
  shape = at::infer_size(index.sizes(), self.sizes());
  return at::broadcast_to(self, shape).gather(dim, wide);
}

} // namespace at::native
