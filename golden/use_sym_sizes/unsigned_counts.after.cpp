// symfix-golden: all-functions
#include <ATen/core/Tensor.h>
#include <c10/util/irange.h>

#include <vector>

// What is counted never comes so far.
bool counted(const at::Tensor& self, const std::vector<int64_t>& sizes, unsigned most) {
  const auto number = sizes.size();
  size_t more = number * 2;
  more += sizes.size();
  bool all = self.sym_size(0) > number && self.sym_size(0) < more && self.sym_size(0) % most != 1;
  for (const auto i : c10::irange(sizes.size())) {
    all = all && self.sym_size(0) > i;
  }
  return all && self.sym_size(0) > static_cast<size_t>(self.dim());
}
