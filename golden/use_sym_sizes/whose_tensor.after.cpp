// symfix-golden: all-functions
#include <ATen/core/Tensor.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <functional>

namespace alias {
using Tensor = at::Tensor;

Tensor rows(const Tensor& self) {
  return self.view_symint({self.sym_size(0), -1});
}
} // namespace alias

namespace declared {
using at::Tensor;

Tensor rows(const Tensor& self) {
  return self.view_symint({self.sym_size(0), -1});
}

template <typename Tensor>
at::Tensor like(const Tensor& given, const at::Tensor& self) {
  return self.view({given.size(0), -1});
}

at::Tensor generic(const at::Tensor& self) {
  auto of = []<typename Tensor>(const Tensor& given) { return given.size(0); };
  return self.view({of(self), -1});
}
} // namespace declared

namespace stable {
using torch::stable::Tensor;

int64_t rows(const Tensor& self) {
  return self.stride(0) + self.size(0);
}
} // namespace stable

namespace opened {
using namespace torch::stable;

at::Tensor rows(const Tensor& given, const at::Tensor& self) {
  const auto turned = transpose(given, 0, 1);
  return self.view({given.size(0), turned.size(0)});
}
} // namespace opened

namespace own {
class Tensor {
 public:
  int64_t size(int64_t dim) const;
};

at::Tensor rows(const Tensor& given, const at::Tensor& self) {
  return self.view({given.size(0), self.size(0)});
}
} // namespace own

namespace other {
using Tensor = own::Tensor;

at::Tensor rows(const Tensor& given, const at::Tensor& self) {
  return self.view({given.size(0), -1});
}
} // namespace other

namespace around {
namespace torch {
struct Tensor {
  int64_t numel() const;
};
} // namespace torch
namespace detail {
struct Tensor {
  int64_t numel() const;
};
} // namespace detail

at::Tensor rows(const torch::Tensor& given, const detail::Tensor& more, const at::Tensor& self) {
  return self.view({given.numel(), more.numel()});
}
} // namespace around

namespace results {
struct Wrapper {
  at::Tensor held;
  int64_t size(int64_t dim) const;
  Wrapper transpose(const at::Tensor& self, int64_t a, int64_t b);
  at::Tensor turned(const at::Tensor& self);
  struct Tensor {
    int64_t numel() const;
  };
};
Wrapper operator+(const at::Tensor& self, const Wrapper& other);
Wrapper relu(const at::Tensor& self);

at::Tensor Wrapper::turned(const at::Tensor& self) {
  Tensor inner;
  auto turned = transpose(self, 0, 1);
  return self.view({turned.size(0), inner.numel()});
}

at::Tensor through(const at::Tensor& self, const Wrapper& other, const std::function<Wrapper(const at::Tensor&)>& neg) {
  auto sum = self + other;
  auto positive = relu(self);
  auto negative = neg(self);
  return self.view({sum.size(0), positive.size(0), negative.size(0)});
}
} // namespace results
