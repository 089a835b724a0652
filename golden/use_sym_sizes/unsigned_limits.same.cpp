// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <limits>
#include <vector>

// "No limit" is often the largest number without a sign, which is -1 to a SymInt.
bool fits(const at::Tensor& self, size_t limit = std::numeric_limits<size_t>::max()) {
  return self.numel() < limit;
}

bool in_groups(const at::Tensor& self, size_t limit) {
  return self.size(0) % limit == 0;
}

struct Limits {
  uint64_t rows = -1;
};

bool within(const at::Tensor& self, const Limits& limits, int rows) {
  const bool few = self.size(0) <= limits.rows;
  return few || self.size(0) < static_cast<size_t>(rows);
}

bool taken_back(const at::Tensor& self, const std::vector<int64_t>& sizes) {
  size_t limit = sizes.size();
  auto none = [&]() { limit = -1; };
  none();
  return self.size(0) < limit;
}

bool below_the_largest(const at::Tensor& self) {
  return self.size(0) < 18446744073709551615ull;
}
