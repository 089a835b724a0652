// symfix-golden: all-functions
#include <ATen/ATen.h>

#include <array>
#include <vector>
using namespace at;

// Braces within braces that make more than one array.
Tensor first_of(const Tensor& self) {
  std::vector<std::vector<int64_t>> shapes{{self.size(0)}, {self.size(1)}};
  return self.view(shapes[0]);
}

Tensor inner_of(const Tensor& self) {
  const std::vector<std::vector<int64_t>> shapes{{self.size(0), 1}};
  return self.view(shapes.front());
}

int64_t area(const std::vector<std::vector<int64_t>>& shapes) {
  return shapes[0][0] * shapes[0][1];
}

Tensor flat(const Tensor& self) {
  return self.reshape({area({{self.size(0), self.size(1)}})});
}
