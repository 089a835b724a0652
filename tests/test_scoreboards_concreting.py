"""Tests of the conversion of symbolic C++ back to concrete C++."""

from __future__ import annotations

import pytest
from scoreboards.concreting import concrete


@pytest.mark.parametrize(
    ("symbolic", "plain"),
    [
        ("x.sym_size(0) * x->sym_numel()", "x.size(0) * x->numel()"),
        ("c10::SymInt n = x.sym_stride(1);", "int64_t n = x.stride(1);"),
        ("c10::SymIntArrayRef s = x.sym_sizes();", "IntArrayRef s = x.sizes();"),
        ("at::OptionalSymIntArrayRef s", "OptionalIntArrayRef s"),
        ("std::vector<c10::SymInt> v; SymDimVector d;", "std::vector<int64_t> v; DimVector d;"),
        ("f(const c10::SymInt& n)", "f(int64_t n)"),
        ("x.view_symint({n}); at::zeros_symint(s);", "x.view({n}); at::zeros(s);"),
        ("at::empty_symint_out(r, s)", "at::empty_out(r, s)"),
        ("at::native::view_symint(x, s)", "at::native::view(x, s)"),
        ("p ? x.sym_size(0) : c10::SymInt(1)", "p ? x.size(0) : 1"),
        ("c10::SymInt(a + b)", "int64_t(a + b)"),
        ("TORCH_SYM_CHECK(a.sym_eq(b.sym_size(0)), m)", "TORCH_CHECK(a == b.size(0), m)"),
        ("a.sym_le(b).sym_and(c.sym_gt(0))", "a <= b && c > 0"),
        ("TORCH_GUARD_SIZE_OBLIVIOUS(x.sym_numel().sym_ne(0))", "x.numel() != 0"),
        ("x.sym_size(0).guard_int(__FILE__, __LINE__)", "x.size(0)"),
        ("(a.sym_le(b)).expect_true(__FILE__, __LINE__)", "(a <= b)"),
        ("x.size(0)", "x.size(0)"),
    ],
)
def test_each_symbolic_word_has_its_way_back(symbolic: str, plain: str) -> None:
    assert concrete(symbolic) == plain


def test_a_kernel_gets_its_old_name_unless_the_file_has_one_of_that_name() -> None:
    text = "Tensor crop_symint(const Tensor& x) {\n  return crop_symint(x);\n}\n"
    assert concrete(text) == text.replace("_symint", "")
    assert concrete(text, frozenset({"crop"})) == text


def test_an_operator_gets_its_old_name_whatever_the_file_defines() -> None:
    text = "x.crop_symint(n); at::crop_symint(x, n); at::native::crop_symint(x, n); native::crop_symint(x, n);"
    plain = "x.crop(n); at::crop(x, n); at::native::crop_symint(x, n); native::crop_symint(x, n);"
    assert concrete(text, frozenset({"crop"})) == plain
