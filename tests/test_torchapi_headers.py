"""Tests of the index of header functions that accept a symbolic size."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from symfix.codemods.torchapi import TorchApi
from symfix.codemods.torchapi.headers import fingerprint
from symfix.cpp.syntax.headers import HeaderFunction, HeaderIndex

_HEADER = """#pragma once
#include <c10/core/SymInt.h>

namespace at {
TORCH_API int64_t wrap(int64_t dim, const std::vector<std::vector<int64_t>>& sizes = {});
inline C10_HOST c10::SymInt wrap(c10::SymInt dim, bool scalar = true, bool = false) {
  int64_t inner(c10::SymInt x);
  return dim +;
}
inline std::vector<int64_t> shape(IntArrayRef a) { return a.vec(); }
inline std::vector<SymInt> shape_symint(SymIntArrayRef a) { return a.vec(); }
inline std::vector<int64_t> concrete(IntArrayRef a) { return a.vec(); }
inline int64_t counted(IntArrayRef a) { return a.size(); }

namespace detail {
template <typename T>
T deep(T value, int64_t n);
auto trailing(const SymInt (&sizes)[3]) -> c10::SymInt;
} // namespace detail

struct Holder {
  int64_t member(c10::SymInt x);
};
} // namespace at

namespace at::native {
#ifdef SOMETHING
static c10::SymInt wrap(const Tensor& self, c10::SymInt n);
#endif
int64_t Holder::method(c10::SymInt x) { return 1; }
} // namespace at::native
"""


@pytest.fixture
def include(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "include"
    (folder / "ATen" / "ops").mkdir(parents=True)
    (folder / "ATen" / "Wrap.h").write_text(_HEADER)
    (folder / "ATen" / "ops" / "view.h").write_text("#pragma once\nTensor generated(c10::SymInt n);\n")
    (folder / "ATen" / "Declarations.h").write_text("Tensor unguarded(c10::SymInt n);\n")
    return folder


def test_overloads_keep_their_types_names_and_defaults(include: Path) -> None:
    plain, symbolic, native = HeaderIndex([include]).overloads("wrap")
    assert plain.parameters == (
        ("int64_t", "dim", False),
        ("const std::vector<std::vector<int64_t>>&", "sizes", True),
    )
    assert symbolic.parameters == (("c10::SymInt", "dim", False), ("bool", "scalar", True), ("bool", "", True))
    assert (plain.returns, symbolic.returns) == ("int64_t", "c10::SymInt")
    assert (plain.symbolic, symbolic.symbolic) == (False, True)
    assert (native.namespace, plain.namespace, plain.file) == ("at::native", "at", "ATen/Wrap.h")
    assert [symbolic.takes(count) for count in range(5)] == [False, True, True, True, False]


def test_a_function_is_kept_for_the_sake_of_its_twin(include: Path) -> None:
    index = HeaderIndex([include])
    assert [one.returns for one in index.overloads("shape")] == ["std::vector<int64_t>"]
    assert [one.returns for one in index.overloads("shape_symint")] == ["std::vector<SymInt>"]


def test_what_gives_a_plain_number_is_kept(include: Path) -> None:
    assert [one.returns for one in HeaderIndex([include]).overloads("counted")] == ["int64_t"]


def test_templates_are_flagged_and_trailing_returns_read(include: Path) -> None:
    index = HeaderIndex([include])
    (deep,) = index.overloads("deep")
    assert (deep.template, deep.namespace, deep.symbolic) == (True, "at::detail", False)
    (trailing,) = index.overloads("trailing")
    assert (trailing.returns, trailing.template) == ("c10::SymInt", False)


@pytest.mark.parametrize("name", ["concrete", "inner", "member", "method", "generated", "unguarded", "missing"])
def test_what_is_left_out(include: Path, name: str) -> None:
    assert HeaderIndex([include]).overloads(name) == ()


def test_a_header_that_is_written_again_changes_the_fingerprint(include: Path) -> None:
    before = fingerprint([include])
    assert fingerprint([include]) == before
    os.utime(include / "ATen" / "Wrap.h", ns=(1, 1))
    changed = fingerprint([include])
    (include / "ATen" / "Another.h").touch()
    assert len({before, changed, fingerprint([include])}) == 3


def _returns(functions: tuple[HeaderFunction, ...], kind: str) -> set[str]:
    return {one.returns for one in functions if one.parameters[0][0] == kind}


def test_the_installed_torch() -> None:
    index = HeaderIndex(TorchApi.load().include_dirs)
    assert _returns(index.overloads("maybe_wrap_dim"), "c10::SymInt") == {"c10::SymInt"}
    assert _returns(index.overloads("infer_size_symint"), "SymIntArrayRef") == {"std::vector<SymInt>"}
    assert _returns(index.overloads("infer_size"), "IntArrayRef") == {"std::vector<int64_t>"}
    products = index.overloads("multiply_integers")
    assert {one.returns for one in products} == {"int64_t", "c10::SymInt"} and all(one.template for one in products)
    assert _returns(index.overloads("computeStride"), "c10::SymIntArrayRef") == {"std::optional<SymDimVector>"}
