// symfix-golden: path=csrc/rolls.cpp
#include <ATen/core/Tensor.h>
#include <torch/library.h>

namespace rolls {

static at::Tensor roll_cuda(const at::Tensor& self) {
  return self.view({self.numel()});
}

static at::Tensor roll_cpu(const at::Tensor& self) {
  return self.view({self.numel()});
}

TORCH_LIBRARY_FRAGMENT(rolls, m) {
  m.def("roll(Tensor self) -> Tensor");
  m.impl("roll", c10::DispatchKey::CPU, TORCH_FN(roll_cpu));
  m.impl("roll", torch::dispatch(c10::DispatchKey::CUDA, &roll_cuda));
}

} // namespace rolls
