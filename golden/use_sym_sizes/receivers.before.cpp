// symfix-golden: all-functions
#include <ATen/core/Tensor.h>
#include <c10/util/MaybeOwned.h>

#include <optional>
#include <string>
#include <vector>

namespace shapes {

at::Tensor many(
    const std::optional<at::Tensor>& bias,
    const c10::MaybeOwned<at::Tensor>& owned,
    at::TensorList list,
    const std::string& name,
    at::IntArrayRef given) {
  const auto lists = static_cast<int64_t>(list.size() + name.size() + given.size());
  return list[0].reshape({bias->size(0), (*bias).numel(), bias.value().size(1), owned->size(0), list.front().size(0), lists});
}

} // namespace shapes
