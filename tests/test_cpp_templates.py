"""Tests of function templates with a symbolic argument: dependent types, and reasons for a refusal."""

from __future__ import annotations

from pathlib import Path

import pytest
from goldens import installed_torch
from symfix.codemods.model.rule import Context
from symfix.codemods.model.source_file import SourceFile
from symfix.cpp.analysis.file.file_analysis import FileAnalysis, knowledge
from symfix.cpp.analysis.graph.reasons import SkipReason
from symfix.cpp.analysis.handlers.templates import depends, symbolic_kind
from symfix.cpp.analysis.propagation.promotions import analyse
from symfix.cpp.syntax.types import Type

HEAD = "#include <ATen/ATen.h>\nusing at::Tensor;\n"
CALL = "bool g(const Tensor& t) { return f(t, t.size(0)); }"


def known(text: str) -> FileAnalysis:
    return knowledge(SourceFile(Path("shapes.cpp"), (HEAD + text).encode()), Context(installed_torch(), None, True))


@pytest.mark.parametrize(
    ("declared", "kind"),
    [
        ("const T& a", Type.SYM_INT),
        ("c10::ArrayRef<T> a", Type.SYM_REF),
        ("const std::vector<T>& a", Type.SYM_VEC),
        ("std::optional<T> a", Type.OPTIONAL_SYM_INT),
        ("std::map<T, T> a", Type.UNKNOWN),
    ],
)
def test_what_a_parameter_is_where_its_type_is_a_symint(declared: str, kind: Type) -> None:
    (function,) = known(f"template <typename T> void f({declared}, IntArrayRef b) {{}}").model.functions
    assert function.type_parameters == {"T"}
    assert [depends(one) for one in function.parameters] == [True, False]
    assert symbolic_kind(function.parameters[0], "T") is kind


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("template <typename T> static bool f(const Tensor& t, T n) { return n == 2; }", None),
        ("template <typename T> static bool f(const Tensor& t, T n) { T m = n + 1; return m > n; }", None),
        (
            "template <typename T> static bool f(const Tensor& t, T n) { return sizeof(T) == n; }",
            SkipReason.TEMPLATE_SIGNATURE,
        ),
        (
            "template <typename T> static bool f(const Tensor& t, T n) { return t.view({n}).dim(); }",
            SkipReason.TEMPLATE_SIGNATURE,
        ),
        (
            "template <typename T> static bool f(const Tensor& t, T n) { int64_t m = n; return m > 1; }",
            SkipReason.TEMPLATE_SIGNATURE,
        ),
        (
            "template <typename T> static bool f(const Tensor& t, T& n) { n = 2; return n; }",
            SkipReason.CONCRETE_PARAMETER,
        ),
        (
            "template <typename T> static bool f(const Tensor& t, T n) { for (T i = 0; i < n; i++) {} return true; }",
            SkipReason.LOOP_BOUND,
        ),
    ],
)
def test_a_template_is_made_for_symint_only_where_its_text_stays(template: str, reason: SkipReason | None) -> None:
    source = SourceFile(Path("shapes.cpp"), f"{HEAD}{template}\n{CALL}".encode())
    analysis = analyse(source, Context(installed_torch(), None, True))
    assert [refusal.reason for _, refusal in analysis.refusals] == ([] if reason is None else [reason])
    assert len(analysis.promotions) == (reason is None)
