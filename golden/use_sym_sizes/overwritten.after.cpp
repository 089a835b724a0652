#include <ATen/ATen.h>
#include <numeric>
#include <torch/library.h>

namespace fold {

// Only how many sizes there are is asked: each element is set by the next statement.
at::Tensor swap_last(const at::Tensor& self) {
  const auto batch_end = self.sym_sizes().end() - 2;
  std::vector<c10::SymInt> shape(self.sym_sizes().begin(), batch_end);
  shape.insert(shape.end(), {self.sym_size(-1), self.sym_size(-2)});
  std::vector<int64_t> order(batch_end - self.sym_sizes().begin());
  // The batch stays where it is.
  std::iota(order.begin(), order.end(), 0);
  order.insert(order.end(), {-1, -2});
  return self.permute(order).reshape_symint(shape);
}

// The same between two iterators that have names.
at::Tensor ones_like_batch(const at::Tensor& self) {
  const auto first = self.sym_sizes().begin();
  const auto last = self.sym_sizes().end() - 2;
  std::vector<int64_t> ones(last - first);
  std::fill(ones.begin(), ones.end(), 1);
  return self.new_ones(ones);
}

// The last element keeps its size.
at::Tensor all_but_the_last(const at::Tensor& self) {
  std::vector<c10::SymInt> shape(self.sym_sizes().begin(), self.sym_sizes().end());
  std::fill(shape.begin(), shape.end() - 1, 1);
  return self.new_ones_symint(shape);
}

// Something is read before everything is overwritten.
at::Tensor read_between(const at::Tensor& self) {
  std::vector<c10::SymInt> shape(self.sym_sizes().begin(), self.sym_sizes().end());
  auto last = shape.back();
  std::fill(shape.begin(), shape.end(), 1);
  return self.new_ones_symint(shape).expand_symint({last});
}

// What is put everywhere is read from there.
at::Tensor all_like_the_first(const at::Tensor& self) {
  std::vector<c10::SymInt> shape(self.sym_sizes().begin(), self.sym_sizes().end());
  std::fill(shape.begin(), shape.end(), shape[0]);
  return self.new_ones_symint(shape);
}

// What is declared beside it has read it already.
at::Tensor copied(const at::Tensor& self) {
  std::vector<c10::SymInt> shape(self.sym_sizes().begin(), self.sym_sizes().end()), sizes(shape);
  std::fill(shape.begin(), shape.end(), 1);
  return self.new_ones_symint(sizes).expand_symint(shape);
}

at::Tensor aliased(const at::Tensor& self) {
  std::vector<c10::SymInt> shape(self.sym_sizes().begin(), self.sym_sizes().end()), &same = shape;
  std::fill(shape.begin(), shape.end(), same[0]);
  return self.new_ones_symint(shape);
}

// A macro reads it.
#define FIRST shape[0]
at::Tensor named_by_a_macro(const at::Tensor& self) {
  std::vector<int64_t> shape(self.sizes().begin(), self.sizes().end());
  std::fill(shape.begin(), shape.end(), FIRST);
  return self.new_ones(shape);
}

} // namespace fold

TORCH_LIBRARY(fold, m) {
  m.def("swap_last(Tensor self) -> Tensor", &fold::swap_last);
  m.def("ones_like_batch(Tensor self) -> Tensor", &fold::ones_like_batch);
  m.def("all_but_the_last(Tensor self) -> Tensor", &fold::all_but_the_last);
  m.def("all_like_the_first(Tensor self) -> Tensor", &fold::all_like_the_first);
  m.def("copied(Tensor self) -> Tensor", &fold::copied);
  m.def("aliased(Tensor self) -> Tensor", &fold::aliased);
  m.def("named_by_a_macro(Tensor self) -> Tensor", &fold::named_by_a_macro);
  m.def("read_between(Tensor self) -> Tensor", &fold::read_between);
}
