"""Tests of the extraction of functions from a text, for rules and for the verifier."""

from __future__ import annotations

from symfix.cpp.syntax.functions import function_declarations, outline
from symfix.cpp.syntax.tree import Tree

TEXT = b"""
#include <vector>
namespace at { namespace {
int declared(int n);
template <typename T>
static T* pointed(T value, int n = 3) { return nullptr; } // pointed { comment
auto behind(const Tensor& t) -> Tensor { return t; }
}
struct Pool { int member() { return 1; } };
int Pool::outside(int) { return declared("behind"[0]); }
TORCH_IMPL_FUNC(square_out)(const Tensor& self) { behind(self); }
TORCH_LIBRARY(ours, m) { m.impl("square", member); }
}
"""


def test_each_function_is_read_with_what_stands_around_it() -> None:
    found = {one.name: one for one in function_declarations(Tree(TEXT))}
    assert list(found) == ["declared", "pointed", "behind", "member", "Pool::outside", "square_out", "TORCH_LIBRARY"]
    assert [name for name, one in found.items() if one.body is None] == ["declared"]
    assert [name for name, one in found.items() if one.around.in_class] == ["member"]
    assert [name for name, one in found.items() if one.around.template] == ["pointed"]
    assert [name for name, one in found.items() if one.static] == ["pointed"]
    assert found["declared"].around.namespaces == ("at", "") and found["declared"].around.unnamed
    assert found["Pool::outside"].unqualified == "outside"
    assert found["square_out"].macro == "TORCH_IMPL_FUNC"
    assert [one.returns.text for one in found.values() if one.returns] == [b"int", b"T", b"Tensor", b"int", b"int"]
    assert [len(one.parameters) for one in found.values()] == [1, 2, 1, 0, 1, 1, 2]


def test_the_outline_parts_bodies_from_what_stands_outside() -> None:
    read = outline(TEXT)
    assert set(read.definitions) == {"pointed", "behind", "outside", "square_out"}
    assert read.names == {*read.definitions, "member"}
    assert b"member() { return 1; }" in read.rest and b"TORCH_LIBRARY" in read.rest
    assert b"comment" not in read.rest and b"#include" not in read.rest
    (outside,) = read.definitions["outside"]
    assert "declared" in outside.words and "behind" not in outside.words


def test_layout_and_comments_are_no_difference() -> None:
    assert outline(TEXT.replace(b"{ return t; }", b"{\n  return t; /* t */\n}")) == outline(TEXT)
    assert outline(TEXT.replace(b"return t", b"return u")) != outline(TEXT)


def test_template_arguments_belong_to_no_name() -> None:
    assert outline(b"template <int k>\nint Packed<k>::apply(int n) { return n; }").names == {"apply"}
