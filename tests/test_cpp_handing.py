"""Tests of argument flow: the values that a function passes to operators, and those that it uses for selection."""

from __future__ import annotations

from pathlib import Path

import pytest
from goldens import installed_torch
from symfix.codemods.model.rule import Context
from symfix.codemods.model.source_file import SourceFile
from symfix.cpp.analysis.file.file_analysis import knowledge
from symfix.cpp.analysis.operators.argument_flow import SIZE, Summary, handing

HEAD = "#include <ATen/ATen.h>\nnamespace at::native {\n"


def summary(body: str, before: str = "", parameters: str = "const Tensor& x, int64_t n, IntArrayRef s") -> Summary:
    text = f"{HEAD}{before}Tensor warp({parameters}) {{\n{body}\n}}\n}}\n"
    know = knowledge(SourceFile(Path("warp.cpp"), text.encode()), Context(installed_torch()))
    (function,) = know.model.named("warp")
    return handing(know).of(function)


def handed(body: str, before: str = "") -> set[tuple[int, str, str]]:
    return {(origin, one.operator, one.argument) for one in summary(body, before).handed for origin in one.origins}


HELPERS = """struct Window { std::vector<int64_t> shape, dim; int64_t rows = 0; };
static int64_t twice(int64_t a, int64_t b) { return a * 2; }
static Window window(IntArrayRef shape, int64_t rows) {
  Window w;
  w.shape = shape.vec();
  w.rows = rows;
  return w;
}
static Tensor crop(const Tensor& t, int64_t length) { return t.narrow(0, 0, length); }
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return x.narrow(0, 1, n);", {(1, "narrow", "length")}),
        ("auto m = n + 1;\nreturn x.narrow(0, m, 3);", {(1, "narrow", "start")}),
        ("return x.narrow(0, 0, s[1]);", {(2, "narrow", "length")}),
        ("std::vector<int64_t> v;\nv.push_back(n);\nreturn x.expand(v);", {(1, "expand", "size")}),
        (
            "DimVector v(s);\nv[0] = n;\nreturn x.expand(v);",
            {(1, "expand", "size"), (2, "expand", "size")},
        ),
        ("DimVector v(n, 3);\nreturn x.expand(v);", set()),
        ("return x.narrow(0, 0, n > 2 ? 1 : 2);", set()),
        ("return x.narrow(0, 0, std::min(n, x.size(0)));", {(1, "narrow", "length"), (SIZE, "narrow", "length")}),
        ("return x.narrow(0, 0, static_cast<int64_t>(n));", {(1, "narrow", "length")}),
        ("return x.narrow(0, 0, twice(n, 1));", {(1, "narrow", "length")}),
        ("return x.narrow(0, 0, twice(1, n));", set()),
        ("auto w = window(s, n);\nreturn x.expand(w.shape);", {(2, "expand", "size")}),
        ("auto w = window(s, n);\nreturn x.narrow(0, 0, w.rows);", {(1, "narrow", "length")}),
        ("auto w = window(s, n);\nreturn x.permute(w.dim);", set()),
        ("return crop(x, n);", {(1, "narrow", "length")}),
        ("return std::get<0>(at::topk(x, x.size(0)));", {(SIZE, "topk", "k")}),
    ],
)
def test_a_value_is_followed_to_the_argument_that_takes_it(body: str, expected: set[tuple[int, str, str]]) -> None:
    assert handed(body, HELPERS) == expected


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("return s[n] == 1 ? x : -x;", "an index"),
        ("return x.size(n) == 1 ? x : -x;", "a dimension"),
        ("auto d = maybe_wrap_dim(n, x.dim());\nreturn x.sum(d);", "a dimension"),
        ("std::vector<int64_t> v(n, 1);\nreturn x.expand(v);", "a number of elements"),
        ("std::vector<Tensor> v(n);\nreturn v[0];", "a number of elements"),
        ("auto v = s.vec();\nv.insert(v.begin() + n, 1);\nreturn x.expand(v);", "an index"),
    ],
)
def test_what_selects_is_told(body: str, what: str) -> None:
    assert {(1, what)} <= {(origin, one.what) for one in summary(body).selected for origin in one.origins}


def test_a_place_along_a_size_is_wrapped_too_and_is_no_dimension() -> None:
    assert not summary("auto d = maybe_wrap_dim(n, x.size(0));\nreturn x.select(0, d);").selected


def test_recursion_ends() -> None:
    found = summary("return n ? warp(x, n - 1, s) : x.narrow(0, 0, n);")
    assert (frozenset({1}), "narrow", "length") in {(one.origins, one.operator, one.argument) for one in found.handed}
