// symfix-golden: path=codegen/rows_template.cpp jinja=dense
{#- The wrapper of one optimizer. -#}
#include <ATen/core/Tensor.h>
#include <torch/library.h>
{%- if dense %}
#include <c10/core/SymIntArrayRef.h>
{%- endif %}

namespace rows {

{# no tag inside: as in any file #}
static at::Tensor flat_meta(const at::Tensor& self) {
  return self.view({self.numel()});
}

static at::Tensor {{ name }}_meta(const at::Tensor& self) {
  return self.view({self.numel()});
}

static at::Tensor rows_meta(const at::Tensor& self) {
  {%- if dense %}
  const auto rows = self.size(0);
  {%- else %}
  const int64_t rows = 1;
  {%- endif %}
  return self.view({rows, -1});
}

static int64_t rows_of(const at::Tensor& self) {
  return self.size(0);
}

static at::Tensor halved_meta(const at::Tensor& self) {
  return self.narrow(0, 0, rows_of(self) / 2);
}

{%- if dense %}
TORCH_LIBRARY_IMPL(rows, Meta, m) {
  m.impl("flat", flat_meta);
  m.impl("{{ name }}", {{ name }}_meta);
  m.impl("rows", rows_meta);
  m.impl("halved", halved_meta);
}
{%- endif %}

} // namespace rows
