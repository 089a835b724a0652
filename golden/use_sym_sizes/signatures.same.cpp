// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

int64_t callable_from_elsewhere(int64_t n) {
  return n;
}

static int64_t by_pointer(int64_t n) {
  return n;
}

static double overloaded(double n) {
  return n;
}

static int64_t overloaded(int64_t n) {
  return n;
}

template <typename T>
static T templated(T n) {
  return n;
}

at::Tensor all_of_them(const at::Tensor& self) {
  int64_t (*pointer)(int64_t) = by_pointer;
  auto a = self.narrow(0, pointer(0), callable_from_elsewhere(self.size(0)));
  auto b = a.narrow(0, 0, by_pointer(self.size(0)));
  auto c = b.narrow(0, 0, overloaded(self.size(0)));
  return c.narrow(0, 0, templated(self.size(0)));
}
