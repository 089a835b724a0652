// symfix-golden: path=aten/src/ATen/native/Windows.cpp
#include <ATen/core/Tensor.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/_convolution_mode.h>

namespace at::native {

// Called with three arguments or with two, which tells them apart.
static c10::SymInt padded(c10::SymInt size, c10::SymInt padding, c10::SymInt kernel) {
  return size + 2 * padding - kernel;
}

static double padded(double size, double padding) {
  return size + 2 * padding;
}

Tensor conv1d_symint(
    const Tensor& input,
    const Tensor& weight,
    const std::optional<Tensor>& bias,
    SymIntArrayRef stride,
    SymIntArrayRef padding,
    SymIntArrayRef dilation,
    c10::SymInt groups) {
  TORCH_CHECK(padded(input.sym_size(-1), padding[0], weight.sym_size(-1)) >= 0, "the kernel does not fit");
  TORCH_CHECK(padded(0.5, 0.25) > 0, "no room");
  return at::convolution_symint(input, weight, bias, stride, padding, dilation, false, {0}, groups);
}

Tensor conv1d_padding_symint(
    const Tensor& input,
    const Tensor& weight,
    const std::optional<Tensor>& bias,
    SymIntArrayRef stride,
    std::string_view padding,
    SymIntArrayRef dilation,
    c10::SymInt groups) {
  return at::_convolution_mode_symint(input, weight, bias, stride, padding, dilation, groups);
}

Tensor broadcast_to_symint(const Tensor& self, SymIntArrayRef size) {
  return self.expand_symint(size);
}

Tensor broadcast_to(const Tensor& self, const Tensor& other) {
  return native::broadcast_to(native::broadcast_to_symint(self, other.sym_sizes().vec()), other.neg());
}

} // namespace at::native
