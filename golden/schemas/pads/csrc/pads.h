#pragma once

#include <ATen/core/Tensor.h>
#include <torch/library.h>

#define FOR_META(name, function) m.impl(name, torch::dispatch(c10::DispatchKey::Meta, TORCH_FN(function)))
#define FOR_DEVICE(KEY, NAME, FUNCTION)  \
  TORCH_LIBRARY_IMPL(pads, KEY, m) {     \
    m.impl(NAME, TORCH_FN(FUNCTION));    \
  }

namespace pads {

at::Tensor filled_meta(const at::Tensor& x, int64_t length, double value);
at::Tensor filled_cpu(const at::Tensor& x, int64_t length, double value);

} // namespace pads
