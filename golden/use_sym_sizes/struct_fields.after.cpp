// symfix-golden: all-functions
#include <ATen/ATen.h>
#include <c10/util/irange.h>
using namespace at;

namespace {

// The shape of a window and the dimensions it covers.
struct Window {
  SymDimVector shape;
  DimVector dim;
};

struct Extent {
  c10::SymInt height = 0;
  c10::SymInt width = 0;
  bool padded = false;
};

struct Halves {
  std::vector<c10::SymInt> first;
  std::vector<c10::SymInt> second;
};

Window whole_window(const Tensor& input, IntArrayRef dim) {
  Window window;
  window.dim.resize(dim.size());
  std::copy(dim.begin(), dim.end(), window.dim.begin());
  window.shape.resize(dim.size());
  for (const auto i : c10::irange(dim.size())) {
    window.shape[i] = input.sym_size(window.dim[i]);
  }
  return window;
}

Tensor take_window(const Tensor& input, IntArrayRef dim) {
  auto window = whole_window(input, dim);
  window.shape.back() = window.shape.back() / 2;
  TORCH_CHECK(window.shape.size() > 0, "no dimension of ", window.dim.size(), " is left");
  return input.new_zeros_symint(window.shape);
}

Extent extent_of(const Tensor& image) {
  return {image.sym_size(-2), image.sym_size(-1), false};
}

Tensor unfold_image(const Tensor& image) {
  Extent extent = extent_of(image);
  extent.width += 1;
  if (extent.padded) {
    return image;
  }
  const auto [height, width, padded] = extent;
  return image.reshape_symint({-1, height * width});
}

Halves halves_of(const Tensor& t) {
  std::vector<c10::SymInt> first(t.sym_sizes().begin(), t.sym_sizes().end());
  const auto second = t.sym_strides().vec();
  return Halves{first, second};
}

Tensor from_halves(const Tensor& t) {
  const Halves& halves = halves_of(t);
  return t.as_strided_symint(halves.first, halves.second);
}

} // namespace
