// symfix-golden: path=aten/src/ATen/native/Windows.cpp
#include <ATen/core/Tensor.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/_convolution_mode.h>

namespace at::native {

// Called with three arguments or with two, which tells them apart.
static int64_t padded(int64_t size, int64_t padding, int64_t kernel) {
  return size + 2 * padding - kernel;
}

static double padded(double size, double padding) {
  return size + 2 * padding;
}

Tensor conv1d(
    const Tensor& input,
    const Tensor& weight,
    const std::optional<Tensor>& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    int64_t groups) {
  TORCH_CHECK(padded(input.size(-1), padding[0], weight.size(-1)) >= 0, "the kernel does not fit");
  TORCH_CHECK(padded(0.5, 0.25) > 0, "no room");
  return at::convolution(input, weight, bias, stride, padding, dilation, false, {0}, groups);
}

Tensor conv1d(
    const Tensor& input,
    const Tensor& weight,
    const std::optional<Tensor>& bias,
    IntArrayRef stride,
    std::string_view padding,
    IntArrayRef dilation,
    int64_t groups) {
  return at::_convolution_mode(input, weight, bias, stride, padding, dilation, groups);
}

Tensor broadcast_to(const Tensor& self, IntArrayRef size) {
  return self.expand(size);
}

Tensor broadcast_to(const Tensor& self, const Tensor& other) {
  return native::broadcast_to(native::broadcast_to(self, other.sizes().vec()), other.neg());
}

} // namespace at::native
