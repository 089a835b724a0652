// symfix-golden: all-functions
#include <ATen/core/Tensor.h>
#include <ATen/ops/linspace.h>

#include <map>
#include <string>

namespace {
int64_t last_seen = 0;
}

at::Tensor concrete(const at::Tensor& self, std::map<int64_t, int64_t>& seen, std::vector<at::Tensor>& list) {
  std::vector<int64_t> scratch(self.size(0));
  list[self.size(0) - 1].neg_();
  seen[self.size(1)] = 1;
  last_seen = self.numel();
  std::string text = std::to_string(self.size(0));
  switch (self.size(1)) {
    case 0:
      return at::linspace(0, 1, self.size(0));
    default:
      return self.unfold(0, self.size(0), 1);
  }
}
