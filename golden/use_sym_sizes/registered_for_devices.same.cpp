// symfix-golden: path=csrc/pools.cpp
#include <ATen/core/Tensor.h>
#include <torch/library.h>

#define TO_CUDA(name, function) m.impl(name, torch::dispatch(c10::DispatchKey::CUDA, TORCH_FN(function)))
#define FOR(KEY, NAME, FUNCTION)     \
  TORCH_LIBRARY_IMPL(pools, KEY, m) { \
    m.impl(NAME, TORCH_FN(FUNCTION)); \
  }

namespace pools {

at::Tensor pool_cuda(const at::Tensor& self) {
  return self.view({self.numel()});
}

at::Tensor pool_cpu(const at::Tensor& self) {
  return self.view({self.numel()});
}

at::Tensor pool_elsewhere(const at::Tensor& self) {
  return self.view({self.numel()});
}

} // namespace pools

TORCH_LIBRARY_FRAGMENT(pools, m) {
  TO_CUDA("pool", pools::pool_cuda);
}

FOR(CPU, "pool", pools::pool_cpu)
