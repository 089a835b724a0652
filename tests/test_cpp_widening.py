"""Tests of integer parameters that are sizes: evidence for and against it, and the widened function."""

from __future__ import annotations

from pathlib import Path

import pytest
from goldens import installed_torch
from symfix.codemods.model.edit import apply
from symfix.codemods.model.rule import Context
from symfix.codemods.model.source_file import SourceFile
from symfix.cpp.analysis.file.file_analysis import knowledge
from symfix.cpp.analysis.operators.argument_widening import evidence, widened
from symfix.cpp.analysis.propagation.promotions import analyse
from symfix.cpp.rewrite.emit import emit

HEAD = "#include <ATen/ATen.h>\n#include <torch/library.h>\nnamespace mine {\n"
LIBRARY = """}
TORCH_LIBRARY(mine, m) {
  m.def("warp(Tensor x, int n) -> Tensor", &mine::warp);
}
"""


def read(body: str, parameters: str = "const at::Tensor& x, int64_t n", tail: str = LIBRARY) -> SourceFile:
    return SourceFile(Path("warp.cpp"), f"{HEAD}at::Tensor warp({parameters}) {{\n{body}\n}}\n{tail}".encode())


def context() -> Context:
    return Context(installed_torch())


def said(body: str, parameters: str = "const at::Tensor& x, int64_t n") -> tuple[str, ...]:
    know = knowledge(read(body, parameters), context())
    (function,) = know.model.named("warp")
    return evidence(know, function, "n")


def made(source: SourceFile, name: str | None = None) -> str | None:
    """Return the text after the parameter n takes a SymInt, or None if it can't."""
    know = knowledge(source, context())
    (function,) = know.model.named("warp")
    signature = widened(function, ("n",), name)
    assert signature is not None
    analysis = analyse(source, context(), wanted=((function.node.start_byte, signature),))
    promotions = [one for one in analysis.promotions if any(seed.expected is not None for seed in one.seeds)]
    return apply(source.content, emit(promotions[0], source.content)).decode() if promotions else None


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return x.narrow(0, 0, n);", "it reaches narrow where that takes a SymInt, line 5"),
        ("auto rows = n * 2;\nreturn at::empty({rows, 3}, x.options());", "it reaches empty where"),
        ("std::vector<int64_t> s = {n, 1};\nreturn x.expand(s);", "it reaches expand where"),
        ("TORCH_CHECK(x.size(0) == n, 1);\nreturn x;", "it is compared with x.size(0), line 5"),
    ],
)
def test_what_says_that_a_parameter_is_a_size(body: str, words: str) -> None:
    found = said(body)
    assert any(line.startswith(words) for line in found), found


@pytest.mark.parametrize(
    "body",
    [
        "return x.sum(n);",
        "return x.transpose(n, 0);",
        "return x.sizes()[n] == 3 ? x : -x;",
        "auto y = x;\nfor (int64_t i = 0; i < n; i++) { y = y + 1; }\nreturn y;",
        "switch (n) { case 0: return x; default: return -x; }",
        "return n > 3 ? x.narrow(0, 0, 3) : x;",
        "std::vector<int64_t> s(n, 1);\nreturn x.expand(s);",
        "return x.narrow(n, 0, x.size(0));",
        "auto m = n;\nm = x.size(n);\nreturn x.narrow(0, 0, m);",
    ],
)
def test_dimensions_trip_counts_enums_and_conditions_say_nothing(body: str) -> None:
    assert said(body) == ()


def test_nothing_is_said_of_a_name_or_of_what_is_no_parameter() -> None:
    source = read("return x;", "const at::Tensor& x, int64_t output_size")
    know = knowledge(source, context())
    (function,) = know.model.named("warp")
    assert evidence(know, function, "output_size") == ()
    assert evidence(know, function, "n") == ()
    assert widened(function, ("n",)) is None
    assert widened(function, ("x",)) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("int64_t n", "c10::SymInt n"),
        ("at::IntArrayRef n", "at::SymIntArrayRef n"),
        ("std::optional<int64_t> n", "std::optional<c10::SymInt> n"),
        ("at::OptionalIntArrayRef n", "at::OptionalSymIntArrayRef n"),
    ],
)
def test_the_types_of_parameters(before: str, after: str) -> None:
    text = made(read("return x;", f"const at::Tensor& x, {before}"))
    assert text is not None
    assert f"warp(const at::Tensor& x, {after}) {{" in text


def test_a_registered_function_takes_symints_and_keeps_its_name_in_the_registration() -> None:
    text = made(read("const auto half = n / 2;\nreturn x.narrow(0, 0, half);"))
    assert text is not None
    assert "warp(const at::Tensor& x, c10::SymInt n) {" in text
    assert "x.narrow_symint(0, 0, half)" in text
    assert "&mine::warp);" in text


def test_a_new_name_is_brought_to_the_registration_too() -> None:
    text = made(read("return x.narrow(0, 0, n);"), "warp_symint")
    assert text is not None
    assert "at::Tensor warp_symint(const at::Tensor& x, c10::SymInt n) {" in text
    assert "&mine::warp_symint);" in text


def test_a_function_whose_body_takes_plain_integers_only_stays() -> None:
    assert made(read("return x.sum(n);")) is None


def test_a_function_that_is_handed_to_something_else_stays() -> None:
    tail = LIBRARY + "auto held = &mine::warp;\n"
    assert made(read("return x.narrow(0, 0, n);", tail=tail)) is None
