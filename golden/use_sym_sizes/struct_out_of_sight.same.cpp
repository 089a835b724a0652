// symfix-golden: all-functions
#include <ATen/ATen.h>
using namespace at;

namespace {

// A pointer to a member reads it under no name.
struct Pointed {
  int64_t length;
};
int64_t read(const Pointed& pointed) {
  int64_t Pointed::*which = &Pointed::length;
  return pointed.*which;
}
Tensor by_address(const Tensor& t) {
  Pointed pointed;
  pointed.length = t.size(0);
  return t.narrow(0, 0, read(pointed));
}

// The elements of a list of structs have no names.
struct Listed {
  int64_t extent;
};
Tensor in_a_list(const Tensor& t) {
  std::vector<Listed> many(1);
  Listed one;
  one.extent = t.size(0);
  many[0] = one;
  return t.narrow(0, 0, many[0].extent);
}

// A loop bound wants an integer.
struct Counted {
  int64_t rows;
};
Tensor as_a_bound(const Tensor& t) {
  Counted counted;
  counted.rows = t.size(0);
  Tensor sum = t;
  for (int64_t i = 0; i < counted.rows; ++i) {
    sum = sum + t;
  }
  return sum;
}

// What is used like a member of a struct may be one.
struct Guessed {
  int64_t margin;
};
template <typename Options>
int64_t margin_of(const Options& options) {
  return options.margin;
}
Tensor behind_a_template(const Tensor& t) {
  Guessed guessed{1};
  guessed.margin = t.size(0);
  return t.narrow(0, 0, margin_of(guessed));
}

// A class with functions of its own is not taken apart.
struct Measured {
  int64_t depth;
  int64_t twice() const {
    return 2 * depth;
  }
};
Tensor with_methods(const Tensor& t) {
  Measured measured{1};
  measured.depth = t.size(0);
  return t.narrow(0, 0, measured.twice());
}

} // namespace
