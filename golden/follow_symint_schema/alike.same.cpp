// symfix-golden: path=aten/src/ATen/native/Windows.cpp
#include <ATen/core/Tensor.h>
#include <ATen/ops/convolution.h>

namespace at::native {

// A SymInt would call the other overload: an integer is converted to double before it is to SymInt.
static int64_t halved(int64_t size) {
  return size / 2;
}

static double halved(double size) {
  return size / 2;
}

Tensor conv2d(
    const Tensor& input,
    const Tensor& weight,
    const std::optional<Tensor>& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    int64_t groups) {
  TORCH_CHECK(halved(groups) > 0, "too few groups");
  return at::convolution(input, weight, bias, stride, padding, dilation, false, {0, 0}, groups);
}

} // namespace at::native
