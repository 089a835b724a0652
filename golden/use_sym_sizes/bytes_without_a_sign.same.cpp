// symfix-golden: all-functions
#include <ATen/core/Tensor.h>

// A size_t wraps below 0, and so it stays one.
bool has_more(const at::Tensor& one, const at::Tensor& other) {
  const size_t bytes = one.nbytes();
  return one.nbytes() - other.nbytes() > 0 && bytes > 0;
}

// What is left of a division by a number that may be negative differs, too.
int64_t parts(const at::Tensor& self, int64_t of) {
  return static_cast<int64_t>(self.storage().nbytes() / of);
}

// Whose bytes these are is not known.
struct Buffer {
  size_t nbytes() const;
};

size_t length(const Buffer& buffer) {
  return buffer.nbytes();
}
