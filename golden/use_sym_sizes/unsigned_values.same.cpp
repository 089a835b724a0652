// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

// Unsigned arithmetic wraps, a SymInt does not.
bool longer(const at::Tensor& self, const std::vector<int64_t>& names) {
  return self.size(0) - names.size() > 0;
}
