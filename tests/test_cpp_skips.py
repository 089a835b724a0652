"""Tests of skips. A small file produces each reason of the C++ wing."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

import pytest
import symfix.cpp
from cpp_cases import offers, skips
from symfix.codemods.model.rule import Safety
from symfix.cpp.analysis.graph.reasons import SkipReason

HEAD = "#include <ATen/ATen.h>\nusing namespace at;\n"
FOLDER = Path(symfix.cpp.__file__).parent


@dataclass(frozen=True)
class Case:
    """File in which a rule skips code for exactly one reason, apart from those in ``beside``."""

    reason: str
    text: str
    rule: str = "use_sym_sizes"
    path: str = "shapes.cpp"
    everything: bool = True
    beside: tuple[str, ...] = ()


def body(reason: str, text: str, *beside: str) -> Case:
    return Case(reason, f"Tensor f(const Tensor& t, const Tensor& u, int64_t k) {{ {text} }}", beside=beside)


NATIVE = "aten/src/ATen/native/Shapes.cpp"
CASES = (
    Case("schema-unclear", 'TORCH_LIBRARY(mine, m) { m.def("f(Tensor t"); }', rule="widen_schema"),
    Case("no-fake-kernel", "Tensor f(const Tensor& t, int64_t n) { return at::empty({n}, t.options()); }\n"
         'TORCH_LIBRARY(mine, m) { m.def("f(Tensor t, int n) -> Tensor"); }\n'
         'TORCH_LIBRARY_IMPL(mine, CPU, m) { m.impl("f", &f); }', rule="widen_schema"),
    Case("kernel-shared", "Tensor f(const Tensor& t, int64_t n) { return at::empty({n}, t.options()); }\n"
         'TORCH_LIBRARY(mine, m) { m.def("f(Tensor t, int n) -> Tensor", &f);\n'
         'm.def("g(Tensor t, int n) -> Tensor", &f); }',
         rule="widen_schema"),
    Case("kernel-unknown", "Tensor f(const Tensor& t, int64_t n) { return at::empty({n}, t.options()); }\n"
         'TORCH_LIBRARY(mine, m) { m.def("f(Tensor t, int n) -> Tensor", &f); }\n'
         'TORCH_LIBRARY_IMPL(mine, Meta, m) { m.impl("f", &g); }', rule="widen_schema"),
    body("template-tag", "{% if flag %} return t.view({t.numel()}); {% endif %} return t;"),
    Case("template-unread", "{% macro rows(t) %}\n{{ t }}.size(0)\n{% endmacro %}\nTensor f(const Tensor& t);"),
    body("array-index", "return t[t.size(0) - 1];"),
    body("c-array", "int64_t pair[2] = {t.size(0), 1}; return t.narrow(0, 0, pair[0]);"),
    body("cast", "return t / static_cast<float>(t.numel());"),
    body("cast", "const auto few = static_cast<int32_t>(t.size(0)); return t.narrow(0, 0, few);"),
    body("concrete-operand", "TORCH_CHECK(t.sizes() == somebody(k)); std::vector<int64_t> v;"
         "std::copy(t.sizes().begin(), t.sizes().end(), std::back_inserter(v)); return t;", "unknown-operand"),
    Case("concrete-parameter", "static Tensor g(const Tensor& t, bool b) { return t; }\n"
         "Tensor f(const Tensor& t) { return g(t, t.size(0)); }"),
    body("container-size", "std::vector<int64_t> v(t.size(0)); return t;"),
    body("data-pointer", "{ const auto* p = t.const_data_ptr<float>(); use(p, t.numel()); } return t;"),
    body("decides-arity", "std::vector<Tensor> v(t.size(0)); return v[0];"),
    body("decides-arity", "std::vector<Tensor> v; v.reserve(t.size(0)); return v[0];"),
    body("declared-type", "bool some = t.numel(); return some ? t : u;"),
    body("device-branch", "if (t.is_cuda()) { return t.view({t.numel()}); } return t;"),
    body("dispatch-macro", 'AT_DISPATCH_FLOATING_TYPES(t.scalar_type(), "f", [&] { use(t.numel()); }); return t;'),
    Case("external-linkage", "int64_t g(int64_t n) { return n; }\n"
         "Tensor f(const Tensor& t) { return t.narrow(0, 0, g(t.size(0))); }"),
    Case("function-escapes", "static int64_t g(int64_t n) { return n; }\n"
         "Tensor f(const Tensor& t) { auto p = &g; return t.narrow(0, p(0), g(t.size(0))); }"),
    body("lambda-escapes", "std::function<int64_t(int64_t)> h = [](int64_t n) { return n / 2; };"
         "return t.narrow(0, 0, h(t.size(0)));"),
    body("loop-bound", "for (const auto i : c10::irange(t.size(0))) { use(i); } return t;"),
    body("loop-bound", "for (int64_t i = 0; i < t.size(0); ++i) { use(i); } return t;"),
    body("loop-bound", "auto n = t.size(0); while (n > 1) { n /= 2; } return t;"),
    body("loop-bound", "auto n = t.size(0); do { n /= 2; } while (n); return t;"),
    Case("macro-body", "#define TWO (n * 2)\nTensor f(const Tensor& t) { auto n = t.size(0); return t.view({TWO}); }"),
    Case("method-signature", "struct S { int64_t rows(const Tensor& t) { return t.size(0); } };"),
    body("mixed-assignment", "auto n = t.size(0); n += k * 0.5; return t.narrow(0, 0, n);"),
    body("mixed-conditional", "return t * (k ? t.numel() * 1.0 : 0.5);"),
    body("mixed-statement", "use(t.size(0)); TORCH_CHECK(somebody(t.size(0)) && t.size(1) == 3); return t;",
         "unknown-callee"),
    body("no-symint-operator", "return t.narrow(0, 0, t.size(0) >> 1);"),
    body("no-symint-operator", "auto s = t.sizes().vec(); s[k++] -= 1; return t.view(s);"),
    body("no-symint-operator", "return t.narrow(0, 0, t.size(0) ?: 7);"),
    body("no-symint-operator", "auto n = t.size(0); auto m = (n *= 2); return t.narrow(0, m, n);"),
    body("declared-type", "volatile int64_t n = t.size(0); return t.narrow(0, 0, n);"),
    body("unknown-operand", "return t.narrow(0, 0, t.size(0) * 2LL);"),
    body("cast", "return t.narrow(0, 0, std::max<int>(t.size(0), k));"),
    body("unsupported-syntax", "auto n = ({ auto m = t.size(0); m; }); return t.narrow(0, 0, n);"),
    body("no-symint-schema", "return t.unfold(0, t.size(0), 1);"),
    Case("output-reference", "static void g(const Tensor& t, int64_t& n) { n = t.size(0); }\n"
         "Tensor f(const Tensor& t, std::vector<int64_t>& v) { g(t, v[0]); return t; }"),
    Case("overloaded", "static int64_t g(int64_t n) { return n; }\nstatic double g(double n) { return n; }\n"
         "Tensor f(const Tensor& t) { return t.narrow(0, 0, g(t.size(0))); }"),
    body("parallel-for", "at::parallel_for(0, t.numel(), 1, [&](int64_t b, int64_t e) {}); return t;"),
    body("parse-error", "auto n = t.size(0); return t.view({n, -1} };"),
    body("preprocessor-branch", "\n#ifdef MANY\nauto n = t.size(0);\n#else\nauto n = t.size(1);\n#endif\n"
         "return t.view({n});"),
    Case("receiver-unknown", "struct Grid { int64_t numel(); };\n"
         "Tensor f(Grid g, const Tensor& t) { return t.view({g.numel()}); }"),
    Case("return-type", "bool f(const Tensor& t) { return t.numel(); }"),
    body("static-storage", "static const int64_t n = t.size(0); return t.narrow(0, 0, n);"),
    body("structured-binding", "auto [a, b] = std::array<int64_t, 2>{t.size(0), 1}; return t.narrow(0, b, a);"),
    Case("dimname", "Tensor f(const Tensor& t, Dimname d) { return t.narrow(0, 0, t.size(d)); }"),
    Case("kernel-signature", "int64_t f(const Tensor& t) { return t.size(0); }\n"
         'TORCH_LIBRARY(mine, m) { m.def("f(Tensor t) -> int", &f); }', everything=False),
    Case("registration-unread", "Tensor f(const Tensor& t) { return t.view({t.size(0)}); }\n"
         "TORCH_LIBRARY_IMPL(mine, SOMEBODYS_KEY, m) { m.impl(\"f\", &f); }", everything=False),
    Case("registration-unread", "Tensor f(const Tensor& t) { return t.view({t.size(0)}); }\n"
         "TORCH_LIBRARY_IMPL(mine, Meta, m) { m.impl(\"g\", &elsewhere); }", everything=False),
    Case("registration-unread", "Tensor f(const Tensor& t) { return t.view({t.size(0)}); }\n"
         "TORCH_LIBRARY_IMPL(mine, Meta, m) { SOMEBODYS_OPERATORS(m); }", everything=False),
    Case("registration-unread", "Tensor f(const Tensor& t) { return t.view({t.size(0)}); }\n"
         "static TORCH_LIBRARY_IMPL(mine, Meta, m);", everything=False),
    Case("saved-data", "struct K : torch::autograd::Function<K> {\n"
         "static Tensor forward(torch::autograd::AutogradContext* ctx, const Tensor& t) {"
         "ctx->saved_data[\"n\"] = t.size(0); return t; } };"),
    body("nested-too-deeply", "return t.view({" + "(" * 300 + "t.size(0)" + ")" * 300 + "});"),
    Case("template-signature", "template <typename T>\nstatic int64_t f(const Tensor& t) { return t.size(0); }"),
    Case("shared-with-kernel", "namespace at::native {\nstatic int64_t rows(const Tensor& t) { return t.size(0); }\n"
         "Tensor trapz(const Tensor& y, const Tensor& x, int64_t dim) { return y.narrow(0, 0, rows(x)); }\n"
         "Tensor _bincount_cpu(const Tensor& t, const std::optional<Tensor>& w, int64_t m) { use(rows(t)); }\n}",
         path=NATIVE, everything=False),
    body("data-pointer", "auto rows = t.accessor<float, 2>(); use(rows, t.numel()); return t;"),
    body("device-code", "const at::cuda::CUDAGuard guard(t.device()); return t.narrow(0, 0, t.size(0));"),
    body("device-code", 'TORCH_CHECK(t.is_cuda(), "no"); return t.narrow(0, 0, t.size(0));'),
    Case("device-code", "Tensor fill_npu(const Tensor& t) { return t.narrow(0, 0, t.size(0)); }"),
    Case("device-code", "Tensor XLANativeFunctions::fill(const Tensor& t) { return t.narrow(0, 0, t.size(0)); }"),
    body("device-code", "return fill_cuda(t, t.size(0));"),
    Case("device-code", "Tensor f(const Tensor& t) { return t.narrow(0, 0, t.size(0)); }", path="shapes.cu"),
    Case("device-code", "Tensor f(const Tensor& t) { return t.narrow(0, 0, t.size(0)); }", path="csrc/shapes_cpu.cpp"),
    Case("device-code", "namespace mine::xpu {\nTensor f(const Tensor& t) { return t.narrow(0, 0, t.size(0)); }\n}"),
    Case("struct-field", "struct S { int64_t rows; };\nusing Other = S;\n"
         "Tensor f(const Tensor& t) { S s; s.rows = t.size(0); return t.narrow(0, 0, s.rows); }"),
    body("switch", "switch (t.size(0)) { case 0: return t; default: return u; }"),
    body("template-argument", "return g<t.size(0)>(t);"),
    body("tensor-iterator", "auto iter = at::TensorIteratorConfig().add_output(t).build(); use(t.numel()); return t;"),
    body("unknown-callee", "return somebody(t.size(0));"),
    body("unknown-initializer", "auto s = somebody(); s = t.size(0); return t.narrow(0, 0, s);"),
    body("unknown-operand", "return t.narrow(0, 0, t.size(0) * somebody());"),
    Case("unknown-target", "int64_t seen = 0;\nTensor f(const Tensor& t) { seen = t.size(0); return t; }"),
    body("unsigned-arithmetic", "std::vector<int64_t> v; if (t.size(0) - v.size() > 0) { return u; } return t;"),
    body("unsupported-syntax", "auto n = t.size(0); auto bytes = sizeof(n); return t.narrow(0, bytes, n);"),
    Case("structured-meta", "namespace at::meta {\nTORCH_META_FUNC(cumsum)(const Tensor& t, int64_t d) {\n"
         "  TORCH_CHECK(t.size(0) > 0);\n  somebody(t.sizes());\n}\n}", path=NATIVE, everything=False,
         beside=("unknown-callee",)),
    Case("neither-branch-general", "Tensor f(const Tensor& t) { if (t.sym_size(0) == 5) { t.neg_(); } return t; }",
         "use_guard_or"),
    Case("neither-branch-general", "Tensor f(const Tensor& t) { if (t.sym_size(0) % 2 == 0) { t.neg_(); } return t; }",
         "use_guard_or"),
    Case("guarded-operand", 'void f(const Tensor& t) { TORCH_CHECK(t.dim() == 2 && t.sym_size(1) == 3, "no"); }',
         "use_sym_check"),
)  # fmt: skip
UNREACHED = {"two-kinds"}
"""Reasons without a small file that produces them. This set may only become smaller."""
OF_SEVERAL_FILES = {"named-elsewhere"}
"""Reasons that test_widen_schema.py produces."""
BY_SYNTAX = {"structured-binding", "c-array"}
"""Reasons that are also names of kinds of declaration."""


@pytest.mark.parametrize("case", [pytest.param(case, id=f"{n}-{case.reason}") for n, case in enumerate(CASES)])
def test_the_reason_is_said_exactly(case: Case) -> None:
    found = skips(HEAD + case.text, case.rule, case.path, everything=case.everything)
    assert case.reason in {skip.reason for skip in found}, [(skip.reason, skip.detail) for skip in found]
    assert {skip.reason for skip in found} <= {case.reason, *case.beside}
    assert all(skip.start < skip.end and skip.detail for skip in found)


def test_every_reason_in_the_wing_has_a_case() -> None:
    assert {reason.value for reason in SkipReason} - {case.reason for case in CASES} == UNREACHED | OF_SEVERAL_FILES


def test_a_reason_is_spelled_in_one_place() -> None:
    words = {reason.value for reason in SkipReason if "-" in reason.value}
    for path in FOLDER.rglob("*.py"):
        if path.name != "reasons.py" and path.parent.name != "syntax":
            written = {node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)}
            assert written & words <= BY_SYNTAX, path.name


def test_a_reason_is_found_by_its_word_and_has_a_sentence() -> None:
    assert all(SkipReason(reason.value) is reason and reason.sentence for reason in SkipReason)


def test_a_block_that_is_read_says_nothing() -> None:
    file = """Tensor f(const Tensor& t) { return t.view({t.size(0)}); }
    TORCH_LIBRARY(mine, m) { m.def("f(Tensor t) -> Tensor"); m.def("g()", {at::Tag::core}); m.def("h", &f); }
    TORCH_LIBRARY_IMPL(mine, CUDA, m) { m.impl("f", &elsewhere); }
    TORCH_LIBRARY_IMPL(mine, Meta, m) { m.impl("f", [](const Tensor& t) { return t; }); }
    // TORCH_LIBRARY_IMPL(mine, Meta, m) { m.impl("f", &elsewhere); }
    #define REGISTER TORCH_LIBRARY_IMPL(mine, Meta, m)
    """
    assert [skip.detail for skip in skips(HEAD + file, everything=False) if skip.reason == "registration-unread"] == []


@pytest.mark.parametrize(
    ("statements", "word"),
    [
        ("int64_t n = t.size(0); return t.view({n});", ""),
        ("auto n = t.size(0); return t.view({n});", ""),
        ("int n = t.size(0); return t.view({n});", "`int` cut off"),
        ("int32_t n = t.size(0); return t.view({n});", "`int32_t` cut off"),
        ('TORCH_CHECK(t.size(0) == 3, "three"); return t;', ""),
        ("TORCH_CHECK(t.size(0) == 3); return t;", "the message of `TORCH_CHECK`"),
        ('TORCH_INTERNAL_ASSERT(t.size(0) == 3, "three"); return t;', "the message of `TORCH_INTERNAL_ASSERT`"),
        ("TORCH_INTERNAL_ASSERT(t.dim() == 3, t.size(0)); return t.view({t.size(0)});", ""),
    ],
)
def test_what_changes_on_plain_integers_is_unsafe_and_said(statements: str, word: str) -> None:
    found = offers(f"#include <ATen/ATen.h>\nat::Tensor f(const at::Tensor& t) {{ {statements} }}")
    assert found
    for fix in found:
        assert fix.safety is (Safety.UNSAFE if word else Safety.SAFE)
        assert word in (fix.default or "") if word else fix.default is None
