// symfix-golden: path=csrc/rolls.cpp
#include <ATen/core/Tensor.h>
#include <torch/library.h>

#define TWO(a, b) a##b
#define OF_NO_DEVICE Meta

namespace rolls {

static at::Tensor roll_meta(const at::Tensor& self) {
  return self.view_symint({self.sym_numel()});
}

static at::Tensor turn_meta(const at::Tensor& self) {
  return self.view_symint({self.sym_numel()});
}

static at::Tensor roll_device(const at::Tensor& self) {
  return self.view({self.numel()});
}

TORCH_LIBRARY_IMPL(TWO(rolls, _ascend), Meta, ops) {
  ops.impl("roll", TORCH_FN(roll_meta));
}

TORCH_LIBRARY_IMPL(rolls, OF_NO_DEVICE, ops) {
  ops.impl("turn", TORCH_FN(turn_meta));
}

static at::Tensor stack_any(const at::Tensor& self) {
  return self.view_symint({self.sym_numel()});
}

TORCH_LIBRARY_FRAGMENT(rolls, m) {
  m.def("stack(Tensor self) -> Tensor", torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd, stack_any), {});
}

TORCH_LIBRARY_IMPL(TWO(rolls, _ascend), PrivateUse1, ops) {
  ops.impl("roll", TORCH_FN(roll_device));
}

} // namespace rolls
