// symfix-golden: all-functions
#include <ATen/Dispatch.h>
#include <ATen/core/Tensor.h>

namespace shapes {

at::Tensor checked_sum(const at::Tensor& self) {
  TORCH_CHECK(self.size(0) > 0, "empty");
  if (self.dim() == 1) {
    double total = 0;
    AT_DISPATCH_FLOATING_TYPES(self.scalar_type(), "checked_sum", [&] {
      const auto* data = self.const_data_ptr<scalar_t>();
      for (int64_t i = 0; i < self.numel(); ++i) {
        total += data[i];
      }
    });
    return self.new_full({1}, total);
  }
  return self.view({self.size(0), -1});
}

} // namespace shapes
