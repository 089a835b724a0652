// symfix-golden: path=aten/src/ATen/native/Shapes.cpp
#include <ATen/ATen.h>

namespace at::native {

static c10::SymInt counted(const Tensor& self);
static void bump(c10::SymInt& n);

static const c10::SymInt& smaller(const c10::SymInt& a, const c10::SymInt& b) {
  return a < b ? a : b;
}

Tensor ravel(const Tensor& self) {
  auto rows = self.sym_size(0);
  auto kept = rows;
  if (rows > self.sym_size(1)) {
    rows = self.sym_size(1);
  } else {
    kept = 1;
  }
  if (rows > self.sym_size(1)) {
    kept = self.sym_size(1);
  }
  if (rows > kept) {
    rows = kept;
    kept = 2;
  }
  if (rows == kept) {
    rows = kept;
  }
  if (rows > kept) {
    rows += kept;
  }
  // What counts may do more than read.
  if (rows > counted(self)) {
    rows = counted(self);
  }
  if (rows > kept) {
    rows = kept; // why
  }
  // A place, not a value.
  (rows < kept ? rows : kept) += 1;
  auto& least = rows < kept ? rows : kept;
  least += 1;
  bump(rows < kept ? rows : kept);
  const auto pick = [&]() -> const c10::SymInt& { return rows < kept ? rows : kept; };
  kept = smaller(rows, pick());
  return self.narrow_symint(0, 0, rows < kept ? rows : rows);
}

} // namespace at::native
