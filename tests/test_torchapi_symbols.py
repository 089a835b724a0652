"""Tests of the symbols of a torch, by its text and by the table of releases."""

from __future__ import annotations

from pathlib import Path

import pytest
from symfix.codemods.torchapi import TorchApi, available
from symfix.codemods.torchapi.releases import FIRST, GONE
from symfix.codemods.torchapi.symbols import cpp_has, python_has

_HEADER = """#pragma once
#define SYM_WIDE(x) c10::wide((x))
// inline bool only_in_a_comment(int x);
namespace c10 {
struct Base {
  bool inherited(int x) const;
};
class C10_API Size : public Base {
 public:
  Size member(const Size& other) const;
  bool get() const { return helper(data_); }
};
inline bool wide(const Size& size) {
  return called_elsewhere(size);
}
} // namespace c10
"""


@pytest.fixture
def include(tmp_path: Path) -> tuple[Path, ...]:
    (tmp_path / "c10" / "core").mkdir(parents=True)
    (tmp_path / "c10" / "core" / "Size.h").write_text(_HEADER)
    (tmp_path / "c10" / "core" / "Made.h").write_text("// @generated\n#pragma once\n#define SYM_MADE 1\n")
    return (tmp_path,)


@pytest.mark.parametrize(
    ("symbol", "there"),
    [
        ("SYM_WIDE", True),
        ("SYM_WIDER", False),
        ("SYM_MADE", False),
        ("c10::wide", True),
        ("::c10::wide", True),
        ("at::wide", False),
        ("c10::member", False),
        ("c10::only_in_a_comment", False),
        ("c10::called_elsewhere", False),
        ("c10::Size::member", True),
        ("Size::member", True),
        ("c10::Size::inherited", True),
        ("c10::Base::member", False),
        ("c10::Size::wide", False),
        ("c10::Size::helper", False),
    ],
)
def test_cpp_symbols(include: tuple[Path, ...], symbol: str, there: bool) -> None:
    assert cpp_has(include, symbol) is there


@pytest.mark.parametrize(
    ("symbol", "there"),
    [
        ("torch.top", True),
        ("torch.value", True),
        ("torch.nested", False),
        ("torch.sub.inner", True),
        ("torch.sub.Class.method", True),
        ("torch.sub.Class.inner", False),
        ("torch.sub.Other.method", False),
        ("torch.sub.Missing.method", False),
        ("torch.nowhere.inner", False),
        ("elsewhere.top", False),
        ("top", True),
        ("inner", False),
        ("torch.sub.brought", True),
        ("torch.sub.brought_too", True),
        ("torch.sub.brought_to", False),
    ],
)
def test_python_symbols(tmp_path: Path, symbol: str, there: bool) -> None:
    package = tmp_path / "torch"
    package.mkdir()
    (package / "__init__.py").write_text("value = 1\ndef top():\n    def nested():\n        pass\n")
    (package / "sub.py").write_text(
        "from torch.other import brought\nfrom torch import (\n    first,\n    brought_too,\n)\n\n\n"
        "def inner(x):\n    # value\n    pass\n\nclass Class:\n    a = 1\n\n    def method(self):\n        pass\n\n"
        "class Other:\n    pass\n"
    )
    assert python_has(package, symbol) is there


def test_the_table_agrees_with_the_installed_torch() -> None:
    api = TorchApi.load()
    wrong = [symbol for symbol, first in FIRST.items() if api.has(symbol) is not (first <= api.release)]
    # A deprecated symbol may be removed by now. Only newer symbols must exist.
    assert [symbol for symbol in wrong if "size_oblivious" not in symbol.lower() and "_is_size" not in symbol] == []
    assert [symbol for symbol, gone in GONE.items() if gone <= api.release and api.has(symbol)] == []


def test_the_installed_torch_is_asked_without_a_minimum() -> None:
    api = TorchApi.load()
    assert available("torch.sym_min", None, api)
    assert available("at::Tensor::sym_is_contiguous", None, api)
    assert not available("torch.no_such_function", None, api)


@pytest.mark.parametrize(
    ("symbol", "minimum", "there"),
    [
        ("TORCH_GUARD_OR_FALSE", (2, 8), True),
        ("TORCH_GUARD_OR_FALSE", (2, 7), False),
        ("torch.fx.experimental.symbolic_shapes.sym_and", (2, 8), True),
        ("sym_and", (2, 7), False),
        ("sym_equals", (2, 10), True),
        ("c10::sym_equals", (2, 9), False),
        ("SymInt::min", (2, 1), True),
        ("torch._inductor.sizevars.SizeVarAllocator.size_hint", (2, 13), False),
        ("torch.sym_fresh_size", (2, 1), False),
    ],
)
def test_a_minimum_decides_by_the_table(symbol: str, minimum: tuple[int, int], there: bool) -> None:
    assert available(symbol, minimum, TorchApi.load()) is there


def test_a_symbol_outside_the_table_counts_when_the_minimum_is_no_older_than_the_torch_that_has_it() -> None:
    api = TorchApi.load()
    assert available("torch.sym_sum", api.release, api)
    assert not available("torch.sym_sum", (api.release[0], api.release[1] - 1), api)
