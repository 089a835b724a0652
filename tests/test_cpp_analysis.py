"""Tests of the C++ wing's analysis on a few lines each: sources, propagation, signatures, comparisons."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from cpp_facts import CAUSE, HEAD, known, place, shown
from goldens import installed_torch
from symfix.codemods.model.rule import Context
from symfix.codemods.model.source_file import SourceFile
from symfix.cpp.analysis.file.branches import branch_of, gives_up
from symfix.cpp.analysis.file.comparisons import comparison, from_method, is_size
from symfix.cpp.analysis.file.default_choice import general_answer
from symfix.cpp.analysis.file.eligibility import symint_name
from symfix.cpp.analysis.file.file_analysis import knowledge
from symfix.cpp.analysis.file.inference import Inference
from symfix.cpp.analysis.file.methods import list_method
from symfix.cpp.analysis.file.prefilter import worth_reading
from symfix.cpp.analysis.file.registrations import registrations
from symfix.cpp.analysis.file.saved_data_syntax import is_context, slot
from symfix.cpp.analysis.file.sources import seeds, without_remains
from symfix.cpp.analysis.file.symbolic_types import twin_of
from symfix.cpp.analysis.graph import dataflow_facts
from symfix.cpp.analysis.graph.graph import Form, Refusal, Value
from symfix.cpp.analysis.graph.reasons import SkipReason
from symfix.cpp.analysis.handlers.pass_context import Pass
from symfix.cpp.analysis.handlers.signatures import may_change, returned_values, uses
from symfix.cpp.analysis.propagation.promotions import analyse
from symfix.cpp.analysis.propagation.propagation import propagate
from symfix.cpp.syntax.project import Project
from symfix.cpp.syntax.tree import every
from symfix.cpp.syntax.types import Type

NATIVE = "aten/src/ATen/native/TensorShape.cpp"
IN_NATIVE = "namespace at::native {\n"


def source(text: str, path: str = "shapes.cpp") -> SourceFile:
    return SourceFile(Path(path), text.encode())


def context(*, everything: bool = True) -> Context:
    return Context(installed_torch(), None, everything)


def test_the_concrete_calls_on_tensors_are_the_seeds() -> None:
    body = "use(t.size(0), t.sizes(), t.dim(), s.size(), somebody.size(0), t.size(Dimname::wildcard()), t.numel(1));"
    know = known(f"{HEAD}void f(const Tensor& t, IntArrayRef s) {{ {body} }}")
    live, refused, kernel_code = seeds(know, signatures=False)
    assert [know.model.tree.text(seed.call) for seed in live] == [
        "t.size(0)",
        "t.sizes()",
        "t.size(Dimname::wildcard())",
    ]
    assert [refusal.reason for _, refusal in refused] == [SkipReason.RECEIVER_UNKNOWN]
    assert kernel_code == []


@pytest.mark.parametrize(
    ("branch", "certain"),
    [
        ("if (t.is_cuda()) { use(k); }", True),
        ("if (t.is_quantized() && k > 1) { use(k); }", True),
        ("if (t.is_cuda() || k > 1) { use(k); }", False),
        ("if (!t.is_cuda()) { return t; } else { use(k); }", True),
        ("if (k == 1 && !t.is_xpu()) { return t; } else { use(k); }", False),
        ("if (k == 1 || !t.is_xpu()) { return t; } use(k);", True),
        ("if (!t.is_xla() && !t.is_lazy()) { use(k); }", False),
        ("if (k == 1 && !t.is_mkldnn()) { return t; } use(k);", False),
        ("if (t.is_mkldnn() || t.is_quantized()) { use(k); }", True),
    ],
)
def test_whether_a_device_decides_a_branch_alone(branch: str, certain: bool) -> None:
    know = known(f"{HEAD}Tensor f(const Tensor& t, int64_t k) {{ {branch} return t; }}")
    parts = know.eligibility.kernel_code[know.eligibility.functions[0].node.id]
    assert [part.reason for part in parts] == [SkipReason.DEVICE_BRANCH] * certain


def test_what_a_method_of_a_list_gives() -> None:
    assert list_method(Type.INT_VEC, "back") is Type.INT
    assert list_method(Type.SYM_REF, "slice") is Type.SYM_REF
    assert list_method(Type.SYM_VEC, "size") is Type.UNSIGNED
    assert list_method(Type.TENSORS, "begin") is Type.TENSOR
    assert list_method(Type.INT_REF, "somebody") is Type.UNKNOWN


def test_a_seed_in_kernel_code_is_refused_for_its_reason() -> None:
    know = known(f"{HEAD}void f(const Tensor& t) {{ {{ use(t.data_ptr(), t.numel()); }} use(t.numel()); }}")
    live, refused, kernel_code = seeds(know, signatures=False)
    assert len(live) == 1
    assert (
        [refusal.reason for _, refusal in refused] == [SkipReason.DATA_POINTER] == [part.reason for part in kernel_code]
    )


@pytest.mark.parametrize(
    ("text", "kept", "reason"),
    [
        (f"{HEAD}void f(const Tensor& t, const Tensor& u) {{ use(t.size(0), u.size(0)); use(t.size(1)); }}",
         ["t.size(1)"], SkipReason.MIXED_STATEMENT),
        ("namespace at::meta {\nTORCH_META_FUNC(f)(const Tensor& t) { use(t.size(0)); use(t.size(1)); }\n}", [],
         SkipReason.STRUCTURED_META),
    ],
)  # fmt: skip
def test_what_shares_a_statement_or_a_meta_function_stays_with_it(
    text: str, kept: list[str], reason: SkipReason
) -> None:
    know = known(text)
    first, *others = seeds(know, signatures=False)[0]
    refusal = Refusal(0, 1, SkipReason.LOOP_BOUND, "")
    left, dropped = without_remains(others, [(first, refusal)])
    assert [know.model.tree.text(seed.call) for seed in left] == kept
    assert {refusal.reason for _, refusal in dropped} == {reason}


def test_a_pass_makes_a_graph_of_values() -> None:
    know = known(f"{HEAD}void f(const Tensor& t) {{ auto n = t.size(0); use(n); return t.view({{n}}); }}")
    live, _, kernel_code = seeds(know, signatures=False)
    growth = propagate(know, live, kernel_code)
    forms = {(cause.form.name, effect.form.name) for cause, effect in growth.graph.edges}
    assert forms >= {
        ("SEED", "EXPRESSION"),
        ("EXPRESSION", "VARIABLE"),
        ("VARIABLE", "EXPRESSION"),
        ("EXPRESSION", "CALL"),
    }
    assert [refusal.reason for _, refusal in growth.graph.sinks] == [SkipReason.UNKNOWN_CALLEE]
    assert set(growth.names.values()) == {"n", "view_symint"}
    written = {
        one.text for facts_of in growth.writings.values() for one in facts_of if isinstance(one, dataflow_facts.Writes)
    }
    assert written == {"sym_size", "view_symint"}


def test_what_is_written_where_the_text_cannot_be_trusted_is_refused() -> None:
    text = f"{HEAD}Tensor f(const Tensor& t) {{\n#ifdef A\nreturn t.view({{t.size(0)}});\n#endif\nreturn t; }}"
    know = known(text)
    live, _, _ = seeds(know, signatures=False)
    assert {refusal.reason for _, refusal in propagate(know, live, []).graph.sinks} == {SkipReason.PREPROCESSOR_BRANCH}


def test_the_passes_go_on_until_nothing_is_refused() -> None:
    body = "auto n = t.size(0); auto m = n + t.size(1); auto k = t.size(2); use(m); return t.view({k});"
    analysis = analyse(source(f"{HEAD}Tensor f(const Tensor& t) {{ {body} }}"), context())
    (promotion,) = analysis.promotions
    assert [analysis.know.model.tree.text(seed.call) for seed in promotion.seeds] == ["t.size(2)"]
    assert promotion.through == ("k", "view_symint")
    assert [refusal.reason for _, refusal in analysis.refusals] == [SkipReason.UNKNOWN_CALLEE] * 2


def test_what_runs_on_real_data_only_is_told_once() -> None:
    analysis = analyse(source(f"{HEAD}void f(const Tensor& t) {{ use(t.data_ptr()); }}"), context())
    assert [(function.name, part.reason) for function, part in analysis.kernel_code] == [("f", SkipReason.DATA_POINTER)]


def test_knowledge_is_made_once_for_a_file() -> None:
    file = source(f"{HEAD}void f(const Tensor& t) {{ }}")
    assert knowledge(file, context()) is knowledge(file, context())


def test_a_pass_knows_what_is_promoted_so_far() -> None:
    p, node = place("use(«n»);")
    assert isinstance(p, Pass)
    assert p.kind_of(node) is Type.INT
    assert p._replace(promoted={node.id: Type.SYM_INT}).kind_of(node) is Type.SYM_INT


@pytest.mark.parametrize(
    ("text", "path", "reason"),
    [
        ("static void g() {{ «x»; }}", "shapes.cpp", None),
        ("void g() {{ «x»; }}", "shapes.cpp", SkipReason.EXTERNAL_LINKAGE),
        ("static void g() {{ «x»; }}", "shapes.h", SkipReason.EXTERNAL_LINKAGE),
        ("struct A {{ void g() {{ «x»; }} }};", "shapes.cpp", SkipReason.METHOD_SIGNATURE),
        ("template <class T> static void g() {{ «x»; }}", "shapes.cpp", SkipReason.TEMPLATE_SIGNATURE),
        ("static void g() {{ «x»; }} static void g(int k = 1) {{ }}", "shapes.cpp", SkipReason.OVERLOADED),
        ("static void f() {{ auto g = [] {{ «x»; }}; }}", "shapes.cpp", None),
    ],
)
def test_whose_signature_may_change(text: str, path: str, reason: SkipReason | None) -> None:
    p, node = place(HEAD + text.replace("{{", "{").replace("}}", "}"), path=path)
    function = p.model.innermost(node)
    assert function is not None
    refusal = may_change(p, function)
    assert (None if refusal is None else refusal[0]) is reason


@pytest.mark.parametrize(
    ("rest", "calls", "escapes"),
    [
        ("void f() { g(1); use(g(2)); }", ["g(1)", "g(2)"], []),
        ("void f() { use(&g); g(1); }", ["g(1)"], [SkipReason.FUNCTION_ESCAPES]),
        ("void f() { int g = 1; use(g); }", [], []),
    ],
)
def test_the_uses_of_a_function(rest: str, calls: list[str], escapes: list[SkipReason]) -> None:
    p, node = place(f"{HEAD}static int64_t g(int k) {{ return «1»; }}\n{rest}")
    function = p.model.innermost(node)
    assert function is not None
    used = uses(p, function)
    assert [p.model.tree.text(call) for call in used.calls] == calls
    assert [reason for _, reason, _ in used.escapes] == escapes


def test_what_a_function_returns_is_not_what_its_lambdas_return() -> None:
    p, node = place(f"{HEAD}int64_t g(bool b) {{ auto h = [] {{ return 1; }}; if (b) {{ return 2; }} return «3»; }}")
    function = p.model.innermost(node)
    assert function is not None
    assert {p.model.tree.text(value) for value in returned_values(function)} == {"2", "3"}


@pytest.mark.parametrize(
    ("text", "twin"),
    [
        ("void f(«IntArrayRef» s) { }", "c10::SymIntArrayRef"),
        ("void f(«at::IntArrayRef» s) { }", "at::SymIntArrayRef"),
        ("namespace at { void f(«IntArrayRef» s) { } }", "SymIntArrayRef"),
        ("void f(«Mine» s) { }", None),
    ],
)
def test_the_twin_of_a_type_is_named_as_its_place_knows_it(text: str, twin: str | None) -> None:
    p, node = place(HEAD + text)
    assert twin_of(p.model, node, Type.INT_REF) == twin


@pytest.mark.parametrize(
    ("block", "registered", "unread"),
    [
        ("TORCH_LIBRARY(mine, m) { m.def(\"f\", &f); }", {"f": "fake"}, 0),
        ("TORCH_LIBRARY_IMPL(mine, CUDA, m) { m.impl(\"f\", &f); }", {"f": "kernel"}, 0),
        ("TORCH_LIBRARY_IMPL(mine, Meta, m) { m.impl(\"f\", &elsewhere); }", {}, 1),
        ("TORCH_LIBRARY_IMPL(mine, KEY, m) { m.impl(\"f\", &f); }", {"f": "kernel"}, 1),
    ],
)  # fmt: skip
def test_what_a_file_registers(block: str, registered: dict[str, str], unread: int) -> None:
    model = known(f"{HEAD}Tensor f(const Tensor& t) {{ return t; }}\n{block}").model
    found = registrations(model, Project())
    assert (found.kinds, len(found.unread)) == (registered, unread)


@pytest.mark.parametrize(
    ("text", "eligible"),
    [
        ("Tensor ravel(const Tensor& self) { return self; }", ["ravel"]),
        ("static void g() { }\nTensor ravel(const Tensor& self) { g(); return self; }", ["g", "ravel"]),
        ("Tensor somebody(const Tensor& self) { return self; }", []),
    ],
)
def test_which_functions_see_symbolic_sizes(text: str, eligible: list[str]) -> None:
    file = source(f"{IN_NATIVE}{text}\n}}", NATIVE)
    know = knowledge(file, context(everything=False))
    assert [function.name for function in know.eligibility.functions] == eligible
    assert worth_reading(file, context(everything=False)) is bool(eligible)
    assert worth_reading(file, context())


@pytest.mark.parametrize(
    ("body", "stays"),
    [
        ("if (t.is_cuda()) { use(t.numel()); }", True),
        ("if (t.is_cuda()) { use(); } else { use(t.numel()); }", False),
        ("if (!t.is_cuda()) { use(); } else { use(t.numel()); }", True),
        ("if (!t.is_cuda()) { use(); return; } use(t.numel());", True),
        ("if (!t.is_cuda()) return; use(t.numel());", True),
        ("if (!t.is_cuda()) { use(); } use(t.numel());", False),
        ('if (t.is_cuda()) { TORCH_CHECK(false, "no"); } use(t.numel());', False),
    ],
)
def test_the_side_of_a_branch_that_one_device_takes(body: str, stays: bool) -> None:
    _, refused, _ = seeds(known(f"{HEAD}void f(const Tensor& t) {{ {body} }}"), signatures=False)
    assert [refusal.reason for _, refusal in refused] == [SkipReason.DEVICE_BRANCH] * stays


def test_the_name_of_a_kernel_that_takes_symint() -> None:
    assert [symint_name(name) for name in ("narrow", "narrow_out")] == ["narrow_symint", "narrow_symint_out"]


@pytest.mark.parametrize(
    ("expression", "key", "kind"),
    [
        ('ctx->saved_data["n"]', '"n"', Type.UNKNOWN),
        ('ctx->saved_data["n"].toInt()', None, Type.INT),
        ('other->saved_data["n"]', None, Type.UNKNOWN),
        ("ctx->saved_data[name]", None, Type.UNKNOWN),
    ],
)
def test_what_an_autograd_function_keeps(expression: str, key: str | None, kind: Type) -> None:
    p, node = place(f"{HEAD}void f(AutogradContext* ctx, Other* other) {{ use(«{expression}»); }}")
    assert slot(p.model, node) == key
    assert p.types.type_of(node) is kind
    named = {p.model.tree.text(one): is_context(p.model, one) for one in every(node, "identifier")}
    assert named.get("ctx", True) and not named.get("other", False)


def test_a_call_of_the_file_has_the_type_that_it_returns() -> None:
    p, node = place(f"{HEAD}static double g(int k) {{ return 1; }}\nvoid f() {{ use(«g(1)»); }}")
    assert isinstance(p.types, Inference)
    assert p.types.type_of(node) is Type.FLOAT
    assert [own.name for own in p.types.own_functions(node)] == ["g"]


@pytest.mark.parametrize(
    ("text", "sign", "subject", "answer"),
    [
        ("t.sym_size(0) == 0", "==", "t.sym_size(0)", False),
        ("0 < t.sym_size(0)", ">", "t.sym_size(0)", True),
        ("(t.sym_numel() != 1)", "!=", "t.sym_numel()", True),
        ("t.sym_size(0) == k", "==", "t.sym_size(0)", None),
        ("t.sym_size(0) - 1 == 0", "==", "t.sym_size(0) - 1", None),
    ],
)
def test_a_comparison_starts_with_the_symint(text: str, sign: str, subject: str, answer: bool | None) -> None:
    p, node = place(f"if («{text}») {{ }}")
    found = comparison(p.types, node)
    assert found is not None
    assert (found.sign, p.model.tree.text(found.subject)) == (sign, subject)
    assert general_answer(p.types, found) is answer


@pytest.mark.parametrize("text", ["n == k", "t.dim() == 0", "t.sym_size(0) == somebody()", "t.sym_size(0) + 1"])
def test_what_is_no_comparison_of_a_size(text: str) -> None:
    p, node = place(f"if («{text}») {{ }}")
    assert comparison(p.types, node) is None


def test_a_comparison_by_a_method() -> None:
    p, node = place("if («t.sym_size(0).sym_ne(1)») { }")
    found = from_method(p.types, node)
    assert found is not None and found.sign == "!="
    assert is_size(p.types, found.subject) and not is_size(p.types, found.other)


@pytest.mark.parametrize(
    ("text", "consequence", "lazy"),
    [
        ("if (ok && («n == 0»)) { return t; }", "{ return t; }", False),
        ("if («n == 0») { return false; } else { use(); }", "{ return false; }", True),
        ("use(«n == 0» ? 1 : 2);", "1", False),
        ("if (!(«n == 0»)) { return t; }", None, False),
        ("while («n == 0») { use(); }", None, False),
    ],
)
def test_the_branch_that_a_comparison_decides(text: str, consequence: str | None, lazy: bool) -> None:
    p, node = place(text)
    found = branch_of(node)
    assert (None if found is None else p.model.tree.text(found.consequence)) == consequence
    assert found is None or gives_up(p.model.tree, found.consequence) is lazy


def test_facts_are_frozen_and_say_their_cause() -> None:
    p, node = place("use(«n»);")
    before, after = dataflow_facts.wrapped(CAUSE, node, "c10::SymInt(", ")")
    assert shown(p, (before, after)) == ["'' to 'c10::SymInt('", "'' to ')'"]
    assert before.cause == Value(Form.SEED, "cause")
    with pytest.raises(AttributeError):
        before.text = ""  # type: ignore[misc]


def test_every_module_that_decides_or_writes_is_imported_by_a_test() -> None:
    tests = Path(__file__).parent
    wing = tests.parent / "cpp"
    rooms = ("analysis", "rewrite")
    paths = [path for room in rooms for path in (wing / room).rglob("[!_]*.py")]
    modules = {"symfix." + ".".join(path.relative_to(tests.parent).with_suffix("").parts) for path in paths}
    imported: set[str] = set()
    for path in tests.glob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                imported |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    assert len(modules) > 30
    assert modules - imported == set()
