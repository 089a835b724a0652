// symfix-golden: all-functions
#include <ATen/ATen.h>
#include <c10/util/irange.h>

#include <tuple>
using namespace at;

namespace {

std::tuple<DimVector, DimVector> without_ones(const Tensor& self) {
  DimVector sizes, strides;
  for (const auto d : c10::irange(self.dim())) {
    if (self.sizes()[d] != 1) {
      sizes.push_back(self.sizes()[d]);
      strides.push_back(self.strides()[d]);
    }
  }
  return std::make_tuple(std::move(sizes), std::move(strides));
}

std::tuple<DimVector, DimVector> without_ones(const Tensor& self, int64_t dim) {
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  DimVector strides(self.strides().begin(), self.strides().end());
  if (self.size(dim) == 1) {
    sizes.erase(sizes.begin() + dim);
    strides.erase(strides.begin() + dim);
  }
  return {sizes, strides};
}

std::pair<int64_t, bool> rows_of(const Tensor& self) {
  if (self.dim() == 0) {
    return {1, false};
  }
  return std::make_pair(self.size(0), true);
}

Tensor by_get(const Tensor& self) {
  const auto geometry = without_ones(self);
  return self.as_strided(std::get<0>(geometry), std::get<1>(geometry));
}

Tensor by_binding(const Tensor& self, int64_t dim) {
  const auto [sizes, strides] = without_ones(self, dim);
  return self.as_strided(sizes, strides);
}

Tensor by_tie(const Tensor& self, std::optional<int64_t> dim) {
  DimVector sizes;
  DimVector strides;
  std::tie(sizes, strides) = dim.has_value() ? without_ones(self, dim.value()) : without_ones(self);
  int64_t rows = 0;
  std::tie(rows, std::ignore) = rows_of(self);
  const auto [again, some] = rows_of(self);
  return some ? self.as_strided(sizes, strides) : self.view({rows * again});
}

} // namespace
