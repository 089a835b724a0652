// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

namespace shapes {

// self.size(0) in a comment, and /* self.numel() */ too
at::Tensor described(const at::Tensor& self) {
  const char* raw = R"(self.sizes() == other.sizes())";
  TORCH_CHECK(self.sym_size(0) > 0, "self.size(0) is ", self.sym_size(0), raw); // self.size(0)
  return self;
}

} // namespace shapes
