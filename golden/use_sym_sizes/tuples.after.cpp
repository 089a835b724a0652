// symfix-golden: all-functions
#include <ATen/ATen.h>
#include <c10/util/DimVector.h>
#include <c10/util/irange.h>

#include <tuple>
using namespace at;

namespace {

std::tuple<c10::SymDimVector, c10::SymDimVector> without_ones(const Tensor& self) {
  c10::SymDimVector sizes, strides;
  for (const auto d : c10::irange(self.dim())) {
    if (self.sym_sizes()[d] != 1) {
      sizes.push_back(self.sym_sizes()[d]);
      strides.push_back(self.sym_strides()[d]);
    }
  }
  return std::make_tuple(std::move(sizes), std::move(strides));
}

std::tuple<c10::SymDimVector, c10::SymDimVector> without_ones(const Tensor& self, int64_t dim) {
  c10::SymDimVector sizes(self.sym_sizes().begin(), self.sym_sizes().end());
  c10::SymDimVector strides(self.sym_strides().begin(), self.sym_strides().end());
  if (self.sym_size(dim) == 1) {
    sizes.erase(sizes.begin() + dim);
    strides.erase(strides.begin() + dim);
  }
  return {sizes, strides};
}

std::pair<c10::SymInt, bool> rows_of(const Tensor& self) {
  if (self.dim() == 0) {
    return {1, false};
  }
  return std::make_pair(self.sym_size(0), true);
}

Tensor by_get(const Tensor& self) {
  const auto geometry = without_ones(self);
  return self.as_strided_symint(std::get<0>(geometry), std::get<1>(geometry));
}

Tensor by_binding(const Tensor& self, int64_t dim) {
  const auto [sizes, strides] = without_ones(self, dim);
  return self.as_strided_symint(sizes, strides);
}

Tensor by_tie(const Tensor& self, std::optional<int64_t> dim) {
  c10::SymDimVector sizes;
  c10::SymDimVector strides;
  std::tie(sizes, strides) = dim.has_value() ? without_ones(self, dim.value()) : without_ones(self);
  c10::SymInt rows = 0;
  std::tie(rows, std::ignore) = rows_of(self);
  const auto [again, some] = rows_of(self);
  return some ? self.as_strided_symint(sizes, strides) : self.view_symint({rows * again});
}

} // namespace
