// symfix-golden: all-functions
#include <ATen/ATen.h>

#include <tuple>
using namespace at;

namespace {

// Whoever takes the tuple as a whole takes it by its type.
std::tuple<int64_t, int64_t> handed_on(const Tensor& self) {
  return std::make_tuple(self.size(0), self.size(1));
}

int64_t area(const std::tuple<int64_t, int64_t>& both) {
  return std::get<0>(both) * std::get<1>(both);
}

Tensor flat(const Tensor& self) {
  return self.reshape({area(handed_on(self))});
}

// A part that bounds a loop is an integer.
std::tuple<int64_t, int64_t> counted(const Tensor& self) {
  return {self.size(0), self.dim()};
}

Tensor summed(const Tensor& self) {
  auto [rows, dim] = counted(self);
  Tensor sum = self[0];
  for (int64_t i = 1; i < rows; ++i) {
    sum = sum + self[i];
  }
  return sum;
}

// A tuple that another function makes is not known.
std::tuple<DimVector, int64_t> made_elsewhere(const Tensor& self);

std::tuple<DimVector, int64_t> maybe(const Tensor& self) {
  if (self.dim() == 1) {
    return made_elsewhere(self);
  }
  return std::make_tuple(DimVector(self.sizes()), self.dim());
}

Tensor viewed(const Tensor& self) {
  return self.view(std::get<0>(maybe(self)));
}

} // namespace
