"""Tests of the translation of C++ composites to Python decompositions: results, refusals, and failing proofs."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
import torch
import torch._prims_common as utils
from symfix.codemods.harness.children.protocols import python_kernels
from symfix.codemods.harness.children.samples.samples import Sample
from symfix.codemods.torchapi import TorchApi
from symfix.cpp.translate.decompositions import Translator
from symfix.cpp.translate.tree_index import Sources
from symfix.cpp.translate.values import Untranslatable
from torch.testing._internal.common_methods_invocations import op_db

KEY = torch._C.DispatchKey.CompositeImplicitAutograd
HEAD = "namespace at::native {\n"
Tree = Callable[[str], Translator]


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """Return a function that makes a translator for one C++ file, with the operators of the installed torch."""

    def made(cpp: str) -> Translator:
        folder = tmp_path / "aten" / "src" / "ATen" / "native"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "Made.cpp").write_text(f"{HEAD}{cpp}\n}} // namespace at::native\n")
        api = TorchApi.load(None)
        return Translator(api, api, Sources(tmp_path))

    return made


@pytest.fixture
def run() -> Iterator[Callable[[str], Any]]:
    """Yield a function that runs a translation and returns the registered kernel. Registrations end with the test."""
    overloads = []

    def kernel(text: str) -> Any:
        names = {
            "torch": torch, "aten": torch.ops.aten, "utils": utils, "Tensor": torch.Tensor, "math": math,
            "warnings": warnings, "DispatchKey": torch._C.DispatchKey, "sym_int": torch.sym_int,
            "sym_float": torch.sym_float,
        }  # fmt: skip
        operator = text.rpartition("@aten.")[2].partition(".py_impl")[0]
        packet, _, name = operator.partition(".")
        overload = getattr(getattr(torch.ops.aten, packet), name)
        overload.py_kernels.pop(KEY, None)
        overloads.append(overload)
        exec(text, names)
        overload._dispatch_cache.clear()
        return overload.py_kernels[KEY]

    yield kernel
    for overload in overloads:
        overload.py_kernels.pop(KEY, None)
        overload._dispatch_cache.clear()


SPLIT = """
// The parts of a tensor along its second dimension.
std::vector<Tensor> hsplit(const Tensor& self, int64_t split_size) {
  TORCH_CHECK(self.dim() >= 1, "torch.hsplit requires a tensor with at least 1 dimension, but got a tensor with ", self.dim(), " dimensions!")
  int64_t dim = (self.dim() == 1) ? 0 : 1;
  // Nothing is left over.
  TORCH_CHECK(split_size != 0 && self.sym_sizes()[dim] % split_size == 0,
    "torch.hsplit attempted to split along dimension ", dim, ", but the size of the dimension ", self.sizes()[dim],
    " is not divisible by the split_size ", split_size, "!");
  return at::tensor_split(self, split_size, dim);
}

std::vector<Tensor> hsplit(const Tensor& self, IntArrayRef split_sizes) {
  TORCH_CHECK(self.dim() >= 1, "torch.hsplit requires a tensor with at least 1 dimension, but got a tensor with ", self.dim(), " dimensions!")
  return at::tensor_split(self, split_sizes, (self.dim() == 1) ? 0 : 1);
}
"""  # noqa: E501


def test_the_text_is_what_a_person_would_write(tree: Tree) -> None:
    translation = tree(SPLIT).translate("aten.hsplit.int")
    assert (translation.operator, translation.name, translation.needs) == ("aten.hsplit.int", "hsplit_int", ())
    assert translation.path.name == "Made.cpp"
    check = "torch.hsplit requires a tensor with at least 1 dimension, but got a tensor with {self.dim()} dimensions!"
    assert translation.text.splitlines()[:5] == [
        "@aten.hsplit.int.py_impl(DispatchKey.CompositeImplicitAutograd)",
        "def hsplit_int(self: Tensor, sections: int) -> list[Tensor]:",
        f'    torch._check(self.dim() >= 1, lambda: f"{check}")',
        "    dim = 0 if self.dim() == 1 else 1",
        "    # Nothing is left over.",
    ]
    assert translation.text.endswith("    return aten.tensor_split.sections(self, sections, dim)\n")


HELPERS = """
constexpr int64_t kFirst = 1;

static DimVector turned(IntArrayRef sizes, int64_t dim = 0) {
  DimVector order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[dim], order[sizes.size() - kFirst]);
  return order;
}

namespace {
int64_t half(int64_t n, std::optional<int64_t> other) {
  if (other.has_value()) {
    return *other;
  }
  return n / 2;
}
} // namespace

"""


@pytest.mark.parametrize(
    ("operator", "cpp", "calls"),
    [
        (
            "aten.swapaxes.default",
            HELPERS
            + """
Tensor swapaxes(const Tensor& self, int64_t axis0, int64_t axis1) {
  axis0 = maybe_wrap_dim(axis0, self.dim());
  axis1 = at::maybe_wrap_dim(axis1, self);
  std::vector<int64_t> order = turned(self.sizes(), 0);
  auto copied = order;
  for (const auto i : c10::irange(order.size())) {
    copied[i] = i;
  }
  copied[axis0] = axis1;
  copied[axis1] = axis0;
  return order.empty() ? self.alias() : self.permute(copied);
}
""",
            [((torch.arange(24.0).view(2, 3, 4), 0, -1), {}), ((torch.arange(6.0).view(2, 3), 1, 1), {})],
        ),
        (
            "aten.cumulative_trapezoid.x",
            """
static Tensor halves(const Tensor& y, const Tensor& dx, int64_t dim) {
  Tensor left = y.slice(dim, 0, -1), right = y.slice(dim, 1);
  return ((left + right) * dx).cumsum(dim) / 2.;
}
Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, int64_t dim) {
  dim = maybe_wrap_dim(dim, y);
  Tensor viewed;
  if (x.dim() == 1) {
    SymDimVector sizes(y.dim(), 1);
    sizes[dim] = x.sym_size(0);
    viewed = x.view_symint(sizes);
  } else if (x.dim() < y.dim()) {
    std::vector<c10::SymInt> sizes;
    sizes.reserve(y.dim());
    for (int64_t i = x.dim(); i < y.dim(); ++i) {
      sizes.emplace_back(1);
    }
    auto own = x.sym_sizes();
    sizes.insert(sizes.end(), own.begin(), own.end());
    viewed = x.view_symint(sizes);
  } else {
    viewed = x;
  }
  auto step = [&](const Tensor& t) { return t.slice(dim, 1) - t.slice(dim, 0, -1); };
  return halves(y, step(viewed), dim);
}
""",
            [
                ((torch.rand(3, 4), torch.rand(4)), {}),
                ((torch.rand(3, 4), torch.rand(3)), {"dim": 0}),
                ((torch.rand(2, 3, 4), torch.rand(3, 4)), {"dim": -2}),
            ],
        ),
        (
            "aten.linalg_matrix_power.default",
            """
static Tensor raised(const Tensor& self, int64_t n, std::optional<Tensor> _out) {
  NoTF32Guard disable_tf32;
  if (n == 0) {
    return _out.has_value() ? at::eye_out(*_out, 3) : self.clone().copy_(at::eye_symint(self.sym_size(-2), self.options()));
  }
  auto a = n < 0 ? at::linalg_inv(self) : self;
  n = std::abs(n);
  Tensor z, result;
  while (n > 0) {
    const auto bit = n % 2;
    n = n / 2;
    z = z.defined() ? at::matmul(z, z) : a;
    if (bit == 1) {
      result = result.defined() ? at::matmul(result, z) : z;
    }
  }
  return result.clone();
}
Tensor linalg_matrix_power(const Tensor& self, int64_t n) { return raised(self, n, std::nullopt); }
""",  # noqa: E501
            [((torch.rand(2, 3, 3), n), {}) for n in (0, 1, 5)],
        ),
        (
            "aten.adaptive_avg_pool1d.default",
            """
static void check1d(const char* function_name, IntArrayRef x) {
  TORCH_CHECK(x.size() == 1, function_name, "() argument should contain one int (got ", x.size(), ")");
}
Tensor adaptive_avg_pool1d(const Tensor & self, IntArrayRef output_size) {
  check1d("adaptive_avg_pool1d", output_size);
  auto output = at::adaptive_avg_pool2d(self.unsqueeze(-2), {1, output_size[0]});
  return output.squeeze(-2);
}
""",
            [((torch.rand(2, 3, 8), [4]), {})],
        ),
        (
            "aten.cosine_similarity.default",
            """
Tensor cosine_similarity(const Tensor& x1_, const Tensor& x2_, int64_t dim, double eps) {
  auto common = at::result_type(x1_, x2_);
  TORCH_CHECK(at::isFloatingType(common), "expected common dtype to be floating point, yet common dtype is ", common);
  auto [x1, x2] = expand_outplace(x1_.to(common), x2_.to(common));
  auto x1_norm = at::linalg_vector_norm(*x1, 2, /*dim=*/dim, /*keepdim=*/true).clone();
  auto x2_norm = at::linalg_vector_norm(*x2, 2, dim, true).clone();
  auto eps_dtype = at::isReducedFloatingType(common) ? at::kFloat : common;
  auto least = at::scalar_tensor(eps, at::TensorOptions().dtype(eps_dtype).device(x1_norm.device()));
  {
    at::NoGradGuard guard;
    x1_norm.clamp_min_(least);
    x2_norm.clamp_min_(least);
  }
  return ((*x1 / x1_norm) * (*x2 / x2_norm)).sum(dim);
}
""",
            [
                ((torch.rand(2, 3), torch.rand(3)), {}),
                ((torch.rand(2, 3), torch.ones(2, 3).int()), {"dim": 0}),
                ((torch.rand(2, 3).half(), torch.zeros(3).half()), {"eps": 1e5}),
            ],
        ),
        (
            "aten.special_multigammaln.default",
            """
Tensor special_multigammaln(const Tensor& self, int64_t p) {
  switch (p % 1 == 0 ? p : 0) {
    case 1:
      return at::lgamma(self);
    case 2:
    case 3: {
      auto options = self.options();
      if (!self.is_complex()) {
        options = options.dtype(kDouble);
      }
      return self.mvlgamma(p);
    }
    default:
      TORCH_CHECK(false, "no p of ", p);
  }
}
""",
            [((torch.rand(3) + 4, 1), {}), ((torch.rand(3) + 4, 3), {})],
        ),
    ],
    ids=lambda one: one if isinstance(one, str) and one.startswith("aten.") else "",
)
def test_a_translation_does_what_the_operator_does(
    operator: str, cpp: str, calls: list[Any], tree: Tree, run: Callable[[str], Any]
) -> None:
    kernel = run(tree(cpp).translate(operator).text)
    _, packet, name = operator.split(".")
    native = getattr(getattr(torch.ops.aten, packet), name)
    assert calls
    for args, kwargs in calls:
        torch.testing.assert_close(kernel(*args, **kwargs), native(*args, **kwargs))


def test_the_errors_are_those_of_c_plus_plus(tree: Tree, run: Callable[[str], Any]) -> None:
    kernel = run(tree(SPLIT).translate("aten.hsplit.int").text)
    for wrong in ((torch.tensor(1.0), 2), (torch.rand(3, 3), 2), (torch.rand(4), 0)):
        with pytest.raises(RuntimeError) as native:
            torch.hsplit(*wrong)
        with pytest.raises(RuntimeError) as translated:
            kernel(*wrong)
        assert str(translated.value) == str(native.value).splitlines()[0]


FUNCTION = "Tensor swapaxes(const Tensor& self, int64_t axis0, int64_t axis1) {{ {} }}"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return self.made_up(axis0);", r"`\.made_up\(…\)` of Tensor"),
        ("return made_up(self);", "the function `made_up`, which is neither an operator nor defined"),
        ("auto p = self.data_ptr<float>(); return self;", r"`self\.data_ptr<float>\(\)`"),
        ("return self.transpose(axis0 / axis1, 0);", "C\\+\\+ rounds to zero, Python down"),
        ("int64_t d = axis0 % 3; return self.transpose(d, 0);", "C\\+\\+ rounds to zero, Python down"),
        ("goto end; end: return self;", "goto statement"),
        ("std::map<int, int> m; return self;", "a variable of type `std::map<int, int>`"),
        ("AT_DISPATCH_ALL_TYPES(self.scalar_type(), \"f\", [&] { self.zero_(); }); return self;", "lambda"),
        ("int64_t n = 0; auto f = [&]() { n = 1; return n; }; f(); return self;", "a lambda that changes variables"),
        ("std::vector<int64_t> v(3); auto& x = v[0]; x = 2; return self;", "a reference into `v`, which changes"),
        ("for (int64_t i = 0; i < axis0; ++i) { i = 3; } return self;", "a loop that changes what it counts by"),
        ("switch (axis0) { case 1: axis1 = 2; case 2: return self; } return self;", "falls through"),
        ("return at::add(self, axis0 == 0 ? self.sizes() : self.strides());", "no overload of `add` takes"),
        ("at::AutoDispatchBelowADInplaceOrView guard; return self;", "the guard `at::AutoDispatch"),
        ("#ifdef USE_CUDA\n return self;\n#endif\n return self;", "`#if USE_CUDA`"),
        ("Tensor* p = &self; return *p;", "a variable of type|the address"),
    ],
)  # fmt: skip
def test_what_is_not_covered_is_refused_with_its_line(body: str, reason: str, tree: Tree) -> None:
    with pytest.raises(Untranslatable, match=reason) as refused:
        tree(FUNCTION.format(body)).translate("aten.swapaxes.default")
    assert refused.value.line >= 2


@pytest.mark.parametrize(
    ("operator", "cpp", "reason"),
    [
        ("aten.made_up.default", SPLIT, "the tree has no operator made_up"),
        ("aten.add.Tensor", SPLIT, "the tree does not compose add.Tensor"),
        ("aten.vsplit.int", SPLIT, "the C\\+\\+ function vsplit is found 0 times"),
        ("aten.hsplit.int", SPLIT + SPLIT, "is found 2 times"),
        (
            "aten.swapaxes.default",
            "template <typename T> Tensor f(T x) { return x; }\n" + FUNCTION.format("return f(self);"),
            "`f`",
        ),
    ],
)
def test_what_is_no_composite_or_not_found_once_is_refused(operator: str, cpp: str, reason: str, tree: Tree) -> None:
    with pytest.raises(Untranslatable, match=reason):
        tree(cpp).translate(operator)


OPERATOR = next(one for one in op_db if one.name == "hsplit")
PLANTED = [
    ("self.dim() == 1 else 1", "self.dim() == 1 else 0", "the other dimension"),
    ("self.dim() >= 1", "self.dim() >= 2", "a check that asks for more"),
    ("self.dim() >= 1", "self.dim() >= 0", "a check that asks for less"),
    ("% sections == 0", "% sections == 1", "another remainder"),
    ("sections != 0 and ", "", "half of a condition"),
    ("torch._check(self.dim()", "torch._check_value(self.dim()", "another type of error"),
    ("requires a tensor", "wants a tensor", "another text"),
    ("(self, sections, dim)", "(self, sections, dim=0)", "an argument that is not passed on"),
    ("(self, sections, dim)", "(self.clone(), sections, dim)", "a copy where C++ gives views"),
    ("(self, sections, dim)", "(self.detach(), sections, dim)", "no gradient"),
    ("tensor_split.sections(self, sections, dim)", "split.Tensor(self, max(sections, 1), dim)", "another operator"),
    ("(self, sections, dim)", "(self.to(torch.float64), sections, dim)", "another dtype"),
]


@lru_cache(maxsize=1)
def samples() -> list[Sample]:
    return [one for one in python_kernels.samples_for_registered(OPERATOR) if isinstance(one.inputs()[0][1], int)]


@pytest.mark.parametrize(
    ("right", "wrong", "what"), [("", "", "nothing"), *PLANTED], ids=lambda one: one if one.isascii() else ""
)
def test_what_is_translated_wrongly_dies_in_the_proof(
    right: str, wrong: str, what: str, tree: Tree, run: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(python_kernels, "registrations", ["aten.hsplit.int"])
    text = tree(SPLIT).translate("aten.hsplit.int").text
    assert right in text
    run(text.replace(right, wrong) if right else text)
    said = [error for one in samples() if (error := python_kernels.registered(one)["error"])]
    assert len(samples()) > 20
    assert bool(said) == (what != "nothing"), said[:3]
