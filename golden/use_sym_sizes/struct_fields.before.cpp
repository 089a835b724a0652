// symfix-golden: all-functions
#include <ATen/ATen.h>
#include <c10/util/irange.h>
using namespace at;

namespace {

// The shape of a window and the dimensions it covers.
struct Window {
  DimVector shape, dim;
};

struct Extent {
  int64_t height = 0;
  int64_t width = 0;
  bool padded = false;
};

struct Halves {
  std::vector<int64_t> first;
  std::vector<int64_t> second;
};

Window whole_window(const Tensor& input, IntArrayRef dim) {
  Window window;
  window.dim.resize(dim.size());
  std::copy(dim.begin(), dim.end(), window.dim.begin());
  window.shape.resize(dim.size());
  for (const auto i : c10::irange(dim.size())) {
    window.shape[i] = input.size(window.dim[i]);
  }
  return window;
}

Tensor take_window(const Tensor& input, IntArrayRef dim) {
  auto window = whole_window(input, dim);
  window.shape.back() = window.shape.back() / 2;
  TORCH_CHECK(window.shape.size() > 0, "no dimension of ", window.dim.size(), " is left");
  return input.new_zeros(window.shape);
}

Extent extent_of(const Tensor& image) {
  return {image.size(-2), image.size(-1), false};
}

Tensor unfold_image(const Tensor& image) {
  Extent extent = extent_of(image);
  extent.width += 1;
  if (extent.padded) {
    return image;
  }
  const auto [height, width, padded] = extent;
  return image.reshape({-1, height * width});
}

Halves halves_of(const Tensor& t) {
  std::vector<int64_t> first(t.sizes().begin(), t.sizes().end());
  const auto second = t.strides().vec();
  return Halves{first, second};
}

Tensor from_halves(const Tensor& t) {
  const Halves& halves = halves_of(t);
  return t.as_strided(halves.first, halves.second);
}

} // namespace
