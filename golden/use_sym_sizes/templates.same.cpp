// symfix-golden: path=aten/src/ATen/native/Shapes.cpp
#include <ATen/ATen.h>

namespace at::native {

// The text of these would have to change, and kernels use it on integers.
template <typename T>
static Tensor as_view(const Tensor& self, ArrayRef<T> sizes) {
  return self.view(sizes);
}

template <typename T>
static Tensor first_rows(const Tensor& self, T rows) {
  auto wide = self.size(1);
  return rows == wide ? self : self.narrow(0, 0, rows);
}

// Of these nobody knows what they are on a SymInt.
template <typename T>
static bool is_wide(const Tensor& self, T rows) {
  return static_cast<T>(7) < rows || sizeof(T) > 4;
}

template <typename T>
static T doubled(const Tensor& self, T rows) {
  return rows + rows;
}

template <typename T>
static void double_in_place(const Tensor& self, T& rows) {
  rows = rows + rows;
}

template <typename T>
static Tensor repeated(const Tensor& self, T times) {
  Tensor out = self;
  for (T i = 0; i < times; i++) {
    out = out + self;
  }
  return out;
}

template <typename T, typename U>
static bool alike(const Tensor& self, std::pair<T, U> sizes, T rows) {
  return sizes.first == rows;
}

template <typename T, typename = std::enable_if_t<std::is_integral_v<T>>>
static Tensor of_integers(const Tensor& self, T rows) {
  return rows == 1 ? self : self.t();
}

Tensor ravel(const Tensor& self) {
  return as_view(self, self.sizes());
}

Tensor trapz(const Tensor& y, const Tensor& x, int64_t dim) {
  return first_rows(y, y.size(0));
}

Tensor trapezoid(const Tensor& y, const Tensor& x, int64_t dim) {
  return is_wide(y, y.size(0)) ? y.narrow(0, 0, doubled(y, y.size(1))) : x;
}

Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, int64_t dim) {
  auto rows = x.size(0);
  double_in_place(x, rows);
  return repeated(y.narrow(0, 0, rows), x.size(1));
}

Tensor matrix_H(const Tensor& self) {
  return alike(self, std::make_pair(self.size(0), 1), self.size(1)) ? self : self.t();
}

Tensor numpy_T(const Tensor& self) {
  return of_integers(self, self.size(0));
}

Tensor _bincount_cpu(const Tensor& self, const std::optional<Tensor>& weights, int64_t minlength) {
  return first_rows(as_view(self, {minlength}), minlength);
}

} // namespace at::native
