"""Tests of the dataflow facts of each handler in the C++ wing, on one line of C++."""

from __future__ import annotations

import pytest
from cpp_facts import CAUSE, HEAD, Handler, place, said, shown
from symfix.cpp.analysis.file.sources import seeds
from symfix.cpp.analysis.graph.dataflow_facts import (
    Becomes,
    Constructs,
    Deduces,
    Gives,
    Keeps,
    Matches,
    Puts,
    Requires,
    Returns,
    Selects,
    Stores,
)
from symfix.cpp.analysis.graph.reasons import SkipReason
from symfix.cpp.analysis.handlers import (
    assignments,
    backward_requirements,
    calls,
    deferred_facts,
    initializers,
    kernels,
    operations,
    parent_dispatch,
    results,
    saved_values,
    variables,
)
from symfix.cpp.analysis.handlers.algorithms import standard
from symfix.cpp.analysis.handlers.conditions import loop_of, truth
from symfix.cpp.analysis.handlers.operator_arguments import header_function, header_result, operator_argument
from symfix.cpp.syntax.declarations import vexing_arguments
from symfix.cpp.syntax.tree import arguments, every
from symfix.cpp.syntax.types import Type

INT, FLOAT, REF, VEC, ITER = Type.SYM_INT, Type.SYM_FLOAT, Type.SYM_REF, Type.SYM_VEC, Type.SYM_ITER
Case = tuple[Handler, str, Type, list[str]]

CONTEXTS: list[Case] = [
    (operations.binary, "use(«n» + 1);", INT, ["n + 1 is SYM_INT"]),
    (operations.binary, "use(2.0 * «n»);", INT, ["2.0 * n is SYM_FLOAT"]),
    (operations.binary, "use(2.0 * «x»);", FLOAT, ["'' to 'c10::SymFloat('", "'' to ')'", "2.0 * x is SYM_FLOAT"]),
    (operations.binary, "use(«n» & 1);", INT, ["refuses no-symint-operator at n & 1"]),
    (operations.binary, "use(«n» - v.size());", INT, ["refuses unsigned-arithmetic at n - v.size()"]),
    (operations.binary, "use(«n» / v.size());", INT, ["refuses unsigned-arithmetic at n / v.size()"]),
    (operations.binary, "use(v.size() + «n»);", INT, ["v.size() + n is SYM_INT"]),
    (operations.binary, "use(«n» * somebody());", INT, ["refuses unknown-operand at n * somebody()"]),
    (operations.binary, "use(«n» * t);", INT, []),
    (operations.binary, "if («n» == k) {}", INT, []),
    (operations.binary, "if («s» == t.sizes()) {}", REF, ["t.sizes() is required"]),
    (operations.binary, "if («n» == somebody()) {}", INT, ["refuses unknown-operand at n == somebody()"]),
    (operations.binary, "while («n» > k) {}", INT, ["refuses loop-bound at n > k"]),
    (operations.binary, "if («n» && ok) {}", INT, ["'' to ' != 0'"]),
    (operations.binary, 'use(out << "n " << «n»);', INT, []),
    (operations.unary, "use(-«n»);", INT, ["-n is SYM_INT"]),
    (operations.unary, "use(!«n»);", INT, ["'!' to ''", "'' to ' == 0'"]),
    (operations.unary, "use(*«o»);", Type.OPTIONAL_SYM_REF, ["*o is SYM_REF"]),
    (operations.unary, "use(~«n»);", INT, ["refuses no-symint-operator at ~n"]),
    (assignments.update, "«n»++;", INT, ["'n++' to 'n += 1'"]),
    (assignments.update, "«n»--;", INT, ["refuses no-symint-operator at n--"]),
    (assignments.update, "use(«n»++);", INT, ["refuses no-symint-operator at n++"]),
    (parent_dispatch._assignment, "k = «n»;", INT, ["k is assigned SYM_INT"]),
    (parent_dispatch._assignment, "use(k = «n»);", INT, ["k is assigned SYM_INT", "k = n is SYM_INT"]),
    (parent_dispatch._assignment, "«n» = k;", INT, []),
    (parent_dispatch._assignment, "«n» -= k + 1;", INT, ["'-=' to '= n -'", "'' to '('", "'' to ')'"]),
    (parent_dispatch._assignment, "«n» <<= 1;", INT, ["refuses no-symint-operator at n <<= 1"]),
    (parent_dispatch._assignment, "«n» = somebody();", INT, ["refuses mixed-assignment at somebody()"]),
    (parent_dispatch._assignment, "«s» = t.sizes();", REF, ["t.sizes() is required"]),
    (parent_dispatch.dispatch_parent, "return «n»;", INT, ["f() returns SYM_INT"]),
    (initializers.initialized, "auto m = «n»;", INT, ["m stores SYM_INT n"]),
    (initializers.initialized, "int64_t m = «{n}»;", VEC, ["m becomes SYM_INT"]),
    (initializers.initialized, "double m = «{n}»;", VEC, ["refuses declared-type at m = {n}"]),
    (initializers.initialized, "auto [a, b] = «n»;", INT, ["refuses structured-binding at [a, b] = n"]),
    (initializers.passed, "std::vector<int64_t> w(«n», 1);", INT, ["refuses container-size at n"]),
    (initializers.captured, "auto g = [m = «n»] { return m; };", INT, ["m becomes SYM_INT"]),
]


def test_a_list_in_braces_starts_a_container() -> None:
    p, node = place("DimVector w{«s»};")
    assert shown(p, parent_dispatch.dispatch_parent(p, node, REF, CAUSE)) == ["{s} is SYM_VEC"]
    p, node = place("DimVector w{«s», s};")
    assert shown(p, parent_dispatch.dispatch_parent(p, node, REF, CAUSE)) == ["refuses unsupported-syntax at {s, s}"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("auto w = std::array<int64_t, 2>{«{n, k}»};", ["std::array<int64_t, 2>{{n, k}} constructs INT_VEC"]),
        ("t.view({«{n, k}»});", ["{{n, k}} is SYM_VEC"]),
        ("std::array<int64_t, 2> w{«{n, k}»};", ["{{n, k}} is SYM_VEC"]),
        ("t.view({«{n, k}», {k}});", ["refuses unsupported-syntax at {{n, k}, {k}}"]),
    ],
)
def test_braces_within_braces_make_one_array(text: str, wanted: list[str]) -> None:
    p, node = place(text)
    assert shown(p, parent_dispatch.dispatch_parent(p, node, VEC, CAUSE)) == wanted


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("use(«t.storage()»);", Type.STORAGE),
        ("use(«t.storage().nbytes()»);", Type.UNSIGNED),
        ("use(«t.storage().sym_nbytes()»);", Type.SYM_INT),
        ("use(«t.nbytes()»);", Type.UNSIGNED),
        ("use(«t.dtype().itemsize()»);", Type.UNSIGNED),
        ("auto pair = native::pooling_same_mode_padding_lr(k, k, k, k); use(«pair.second»);", Type.INT),
        ("auto pair = native::pooling_same_mode_padding_lr(k, k, k, k); use(«pair.third»);", Type.UNKNOWN),
        ("std::vector<std::reference_wrapper<const Tensor>> w; use(«w[0].get()»);", Type.TENSOR),
        ("std::deque<Tensor> w; auto a = w[0]; use(«a»);", Type.TENSOR),
        ("SmallVector<int64_t, 2 * 4> w; use(«w»);", Type.INT_VEC),
        ("SmallVector<int64_t*, 4> w; use(«w»);", Type.UNKNOWN),
        ("std::optional<DimVector> w; use(«*w»);", Type.INT_REF),
        ("DimVector w(«static_cast<size_t>»(k));", Type.UNSIGNED),
    ],
)
def test_what_an_expression_is(text: str, known: Type) -> None:
    p, node = place(text)
    assert p.types.type_of(node) is known


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("auto w = at::detail::computeStride(s, s, v); use(«*w»);", ["w is required"]),
        ("auto w = at::detail::computeStride(s, s, v); use(«w.value()»);", ["w is required"]),
        ("use(«*o»);", ["refuses concrete-operand at *o"]),
    ],
)
def test_an_opened_optional_is_required(text: str, wanted: list[str]) -> None:
    p, node = place(text)
    assert shown(p, backward_requirements.demand(p, Requires(CAUSE, node))) == wanted


def test_a_kernel_gives_what_its_schema_says() -> None:
    text = "namespace at::native {\nint64_t sym_size(const Tensor& self, int64_t dim) { return «self»; }\n}"
    p, _ = place(text, path="aten/src/ATen/native/Sizes.cpp")
    assert p.know.eligibility.given(p.model.named("sym_size")[0]) is INT
    p, _ = place(text.replace("sym_size", "somebody"), path="aten/src/ATen/native/Sizes.cpp")
    assert p.know.eligibility.given(p.model.named("somebody")[0]) is Type.UNKNOWN


def test_what_is_moved_starts_a_container() -> None:
    p, _ = place("std::vector<int64_t> w(std::move(v)); DimVector m(s, v); return «t»;")
    one, two = every(p.model.functions[-1].body, "parameter_list")[::2]
    assert [p.model.tree.text(value) for value in vexing_arguments(one)] == ["v"]
    assert [p.model.tree.text(value) for value in vexing_arguments(two)] == ["s", "v"]


@pytest.mark.parametrize(
    ("call", "known"),
    [("infer_size(s, s)", True), ("mine::infer_size(s, s)", False), ("at::infer_size(s)", False)],
)
def test_a_helper_of_torchs_headers_gives_its_symbolic_twin(call: str, known: bool) -> None:
    p, node = place(f"namespace at::native {{ Tensor f(IntArrayRef s) {{ use(«{call}»); }} }}")
    assert p.types.type_of(node) is (Type.INT_VEC if known else Type.UNKNOWN)
    found = header_result(p, node, VEC, CAUSE)
    name = "infer_size_symint"
    wanted = [f"CALL {name}", f"'infer_size' to '{name}'", *["s is required or converted"] * 2, f"{call} is SYM_VEC"]
    assert (None if found is None else shown(p, found)) == (wanted if known else None)


@pytest.mark.parametrize(("handler", "text", "kind", "wanted"), CONTEXTS)
def test_what_stands_around_a_value(handler: Handler, text: str, kind: Type, wanted: list[str]) -> None:
    if handler is parent_dispatch.dispatch_parent:
        p, node = place(text)
        assert shown(p, parent_dispatch.dispatch_parent(p, node, kind, CAUSE)) == wanted
    else:
        assert said(handler, text, kind) == wanted


@pytest.mark.parametrize(
    ("text", "kind", "wanted"),
    [
        ("use((«n»));", INT, ["(n) is SYM_INT"]),
        ("«n»;", INT, []),
        ("if («n») {}", INT, ["'' to ' != 0'"]),
        ("switch («n») {}", INT, ["refuses switch at n"]),
        ("t.view({«n», 1});", INT, ["{n, 1} is SYM_VEC"]),
        ("t.view(IntArrayRef{«n», 1});", INT, ["IntArrayRef{n, 1} constructs INT_REF"]),
        ("use(Mine{«n»});", INT, ["refuses unknown-callee at Mine{n}"]),
        ("use(ok ? «n» : 1);", INT, ["1 has to match", "ok ? n : 1 is SYM_INT"]),
        ("use(ok ? «n» : x);", INT, ["refuses mixed-conditional at ok ? n : x"]),
        ("use(ok ? «s» : t.sizes());", REF, ["t.sizes() is required", "ok ? s : t.sizes() is SYM_REF"]),
        ("use(«s»[0]);", REF, ["s[0] is SYM_INT"]),
        ("use(s[«n»]);", INT, ["refuses array-index at [n]"]),
        ("use(«s».member);", REF, ["refuses unsupported-syntax at s.member"]),
        ("use(«s».vec());", REF, ["s.vec() is SYM_VEC"]),
        ("for (auto m : «s») {}", REF, ["m stores SYM_INT s"]),
        ("for (auto m : «n») {}", INT, ["refuses loop-bound at for (auto m : n) {}"]),
        ("use((int64_t)«n»);", INT, ["'(int64_t)' to ''", "(int64_t)n is SYM_INT"]),
        ("use((int)«n»);", INT, ["refuses cast at (int)n"]),
        ("use((double)«n»);", INT, ["'(double)' to 'c10::SymFloat('", "'' to ')'", "(double)n is SYM_FLOAT"]),
        ("while («n») {}", INT, ["refuses loop-bound at n"]),
        ("use(g<«n»>());", INT, ["refuses template-argument at <n>"]),
        ("use(sizeof «n»);", INT, ["refuses unsupported-syntax at sizeof n"]),
    ],
)
def test_the_handler_is_found_by_the_syntactic_parent(text: str, kind: Type, wanted: list[str]) -> None:
    p, node = place(text)
    assert shown(p, parent_dispatch.dispatch_parent(p, node, kind, CAUSE)) == wanted


@pytest.mark.parametrize(
    ("text", "kind", "wanted"),
    [
        ("std::move(«n»);", INT, ["std::move(n) is SYM_INT"]),
        ("use(static_cast<int64_t>(«n»));", INT, ["'static_cast<int64_t>' to ''", "'(' to ''", "')' to ''",
                                                 "static_cast<int64_t>(n) is SYM_INT"]),
        ("use(static_cast<int>(«n»));", INT, ["refuses cast at static_cast<int>(n)"]),
        ("use(static_cast<double>(«n»));", INT, ["'static_cast<double>' to 'c10::SymFloat'",
                                                "static_cast<double>(n) is SYM_FLOAT"]),
        ("use(DimVector(«s»));", REF, ["s is required", "DimVector(s) constructs INT_VEC"]),
        ("use(DimVector(«n», 1));", INT, ["refuses container-size at DimVector(n, 1)"]),
        ("use(Scalar(«n»));", INT, []),
        ("TORCH_CHECK(«n», 1);", INT, ["'' to ' != 0'"]),
        ("TORCH_CHECK(ok, «n»);", INT, []),
        ("TORCH_CHECK(ok, «v»);", ITER, ["refuses unknown-callee at v"]),
        ("c10::irange(«n»);", INT, ["refuses loop-bound at c10::irange(n)"]),
        ("use(c10::multiply_integers(«s»));", REF, ["s is required", "c10::multiply_integers(s) is SYM_INT"]),
        ("at::parallel_for(0, «n», 1, g);", INT, ["refuses parallel-for at at::parallel_for(0, n, 1, g)"]),
        ("somebody(«n»);", INT, ["refuses unknown-callee at somebody(n)"]),
        ("t.view(«s»);", REF, ["CALL view_symint", "'view' to 'view_symint'", "s is required or converted"]),
        ("t.nobody(«n»);", INT, ["refuses unknown-callee at t.nobody(n)"]),
        ("ts[0].add(«n»);", INT, []),
        ("ts.resize(«n»);", INT, ["refuses decides-arity at ts.resize(n)"]),
        ("v.push_back(«n»);", INT, ["v is required"]),
        ("v.resize(«n»);", INT, ["refuses container-size at v.resize(n)"]),
        ("s.equals(«s»);", REF, ["s is required"]),
    ],
)  # fmt: skip
def test_which_calls_take_a_value(text: str, kind: Type, wanted: list[str]) -> None:
    p, node = place(text)
    call = node.parent.parent if node.parent is not None else None
    assert call is not None
    assert shown(p, calls.argument(p, node, call, kind, CAUSE)) == wanted


@pytest.mark.parametrize(
    ("text", "kind", "wanted"),
    [
        ("DimVector w(«s»);", REF, ["w stores SYM_VEC s"]),
        ("std::vector<Tensor> w(«n», t);", INT, ["refuses decides-arity at n"]),
        ("Tensor g(«n»);", INT, ["refuses unknown-callee at n"]),
    ],
)
def test_what_reads_like_the_parameters_of_a_function(text: str, kind: Type, wanted: list[str]) -> None:
    p, declaration = place(text)
    (node,) = declaration.named_children
    assert shown(p, initializers.vexing(p, node, declaration, kind, CAUSE)) == wanted


OWN = "static Tensor g(int64_t m, IntArrayRef w, bool b) { return somebody(); }\n"


@pytest.mark.parametrize(
    ("call", "kind", "wanted"),
    [
        ("g(«n», w, b)", INT, ["m becomes SYM_INT"]),
        ("g(1, «w», b)", REF, ["w becomes SYM_REF"]),
        ("g(1, w, «n»)", INT, ["refuses concrete-parameter at n"]),
    ],
)
def test_a_function_of_the_file_takes_what_its_parameter_can_become(call: str, kind: Type, wanted: list[str]) -> None:
    p, node = place(f"{HEAD}{OWN}Tensor f(int64_t n, IntArrayRef w, bool b) {{ return {call}; }}")
    assert node.parent is not None and node.parent.parent is not None
    assert shown(p, calls.argument(p, node, node.parent.parent, kind, CAUSE)) == wanted


@pytest.mark.parametrize(
    ("text", "kind", "wanted"),
    [
        ("use(«s».slice(1));", REF, ["s.slice(1) is SYM_REF"]),
        ("use(«s».size());", REF, []),
        ("«v».insert(v.begin(), k);", VEC, ["v.begin() is required"]),
        ("use(«s».nothing());", REF, ["refuses unknown-callee at s.nothing()"]),
        ("use(«o».value());", Type.OPTIONAL_SYM_REF, ["o.value() is SYM_REF"]),
        ("use(«o».value_or(s));", Type.OPTIONAL_SYM_REF, ["s is required", "o.value_or(s) is SYM_REF"]),
        ("use(«n».guard());", INT, ["refuses unsupported-syntax at n.guard()"]),
    ],
)
def test_which_methods_a_symbolic_value_has(text: str, kind: Type, wanted: list[str]) -> None:
    p, node = place(text)
    member = node.parent
    assert member is not None and member.parent is not None
    name = p.model.tree.text(member.named_children[-1])
    assert shown(p, calls.list_method(p, member.parent, name, kind, CAUSE)) == wanted


@pytest.mark.parametrize(
    ("text", "kind", "wanted"),
    [
        ("«std::max(n, k)»;", INT, ["CALL", "max of n, k", "std::max(n, k) is SYM_INT"]),
        ("«std::max<int>(n, k)»;", INT, ["refuses cast at std::max<int>(n, k)"]),
        ("«std::min(n, x)»;", INT, ["refuses unknown-operand at std::min(n, x)"]),
        ("«std::fill(v.begin(), v.end(), n)»;", INT, ["v.begin() is required", "v.end() is required"]),
        (
            "«std::transform(v.begin(), v.end(), v.begin(), std::negate<int64_t>())»;",
            ITER,
            ["v.begin() is required", "v.end() is required", "v.begin() is required", "'int64_t' to 'c10::SymInt'"],
        ),
        (
            "«std::transform(v.begin(), v.end(), v.begin(), [](int64_t i) { return i; })»;",
            ITER,
            [
                "refuses unknown-callee at std::transform(v.begin(), v.end(), v.begin(), "
                "[](int64_t i) { return i; })"
            ],
        ),
        ("«std::swap(n, k)»;", INT, ["n is assigned SYM_INT", "k is assigned SYM_INT"]),
        ("«std::sort(v.begin(), v.end())»;", ITER, ["refuses unknown-callee at std::sort(v.begin(), v.end())"]),
        ("«std::accumulate(s.begin(), s.end(), 1, std::multiplies<int64_t>())»;", ITER,
         ["s.begin() is required", "s.end() is required", "CALL", "'std::accumulate' to 'c10::multiply_integers'",
          "', 1, std::multiplies<int64_t>()' to ''",
          "std::accumulate(s.begin(), s.end(), 1, std::multiplies<int64_t>()) is SYM_INT"]),
    ],
)  # fmt: skip
def test_which_functions_of_the_standard_library_take_a_value(text: str, kind: Type, wanted: list[str]) -> None:
    p, call = place(text)
    assert shown(p, standard(p, call, p.types.callee(call), 0, kind, CAUSE)) == wanted


@pytest.mark.parametrize(
    ("text", "position", "kind", "wanted"),
    [
        ("«t.narrow(0, 0, n)»;", 2, INT, ["CALL narrow_symint", "'narrow' to 'narrow_symint'"]),
        ("«t.narrow_symint(0, 0, n)»;", 2, INT, ["CALL"]),
        ("«t.narrow(n, 0, 1)»;", 0, INT, ["refuses no-symint-schema at t.narrow(n, 0, 1)"]),
        ("«t.add(n)»;", 0, INT, []),
        ("«t.sum(s)»;", 0, REF, ["refuses no-symint-schema at t.sum(s)"]),
        ("«t.nobody(n)»;", 0, INT, None),
    ],
)
def test_which_operators_take_a_value(text: str, position: int, kind: Type, wanted: list[str] | None) -> None:
    p, call = place(text)
    found = operator_argument(p, call, arguments(call), position, kind, CAUSE, is_method=True)
    assert (None if found is None else shown(p, found)) == wanted


def test_which_helpers_of_torchs_headers_take_a_value() -> None:
    p, call = place("use(«maybe_wrap_dim(k, n)»);")
    found = header_function(p, call, arguments(call), 1, INT, CAUSE)
    assert found is not None
    assert shown(p, found) == ["CALL maybe_wrap_dim", "maybe_wrap_dim(k, n) is SYM_INT"]
    p, call = place("use(«no_helper_of_torch(k, n)»);")
    assert header_function(p, call, arguments(call), 1, INT, CAUSE) is None


@pytest.mark.parametrize(
    ("text", "kind", "wanted"),
    [
        ("«n»;", INT, ["'' to ' != 0'"]),
        ("«n + 1»;", INT, ["refuses no-symint-operator at n + 1"]),
        ("«s»;", REF, ["refuses no-symint-operator at s"]),
        ("«o»;", Type.OPTIONAL_SYM_REF, []),
        ("while (ok && «n») {}", INT, ["refuses loop-bound at n"]),
    ],
)
def test_a_value_tested_for_truth(text: str, kind: Type, wanted: list[str]) -> None:
    p, node = place(text)
    assert shown(p, truth(node, kind, CAUSE)) == wanted
    assert (loop_of(node) is not None) == ("while" in text)


@pytest.mark.parametrize(
    ("declaration", "kind", "wanted"),
    [
        ("int64_t m = «0»;", INT, ["m becomes SYM_INT"]),
        ("auto m = «0»;", INT, ["m becomes SYM_INT"]),
        ("c10::SymInt m = «0»;", INT, []),
        ("Scalar m = «0»;", INT, []),
        ("bool m = «0»;", INT, ["refuses declared-type at 0"]),
        ("std::vector<int64_t> m = «s»;", REF, ["m becomes SYM_VEC"]),
        ("int64_t m[] = «{0}»;", INT, ["refuses c-array at {0}"]),
    ],
)
def test_what_a_variable_can_hold(declaration: str, kind: Type, wanted: list[str]) -> None:
    p, node = place(f"{declaration} use(m);")
    name = next(one for one in p.model.resolved_beside(node).values() if one is not None and one.name == "m")
    assert shown(p, variables.store(p, Stores(CAUSE, name, kind, node))) == wanted


@pytest.mark.parametrize(
    ("text", "kind", "wanted"),
    [
        ("int64_t «m» = 0, j = 1; use(m);", INT, ["'int64_t' to 'c10::SymInt'", "later: j becomes SYM_INT",
                                                 "later: m is SYM_INT"]),
        ("auto «m» = 0; use(m);", INT, ["m is deduced", "later: m is SYM_INT"]),
        ("static int64_t «m» = 0;", INT, ["refuses static-storage at m"]),
        ("volatile int64_t «m» = 0;", INT, ["refuses declared-type at m"]),
        ("IntArrayRef «m» = s;", REF, ["'IntArrayRef' to 'c10::SymIntArrayRef'", "later: s is required"]),
        ("IntArrayRef «m» = somebody();", REF, ["'IntArrayRef' to 'c10::SymIntArrayRef'",
                                               "refuses unknown-initializer at somebody()"]),
        ("int64_t& «m» = v[0];", INT, ["'int64_t' to 'c10::SymInt'", "later: v is required"]),
    ],
)  # fmt: skip
def test_what_a_variable_takes_with_it(text: str, kind: Type, wanted: list[str]) -> None:
    p, node = place(text)
    variable = p.model.resolved[node]
    assert variable is not None
    assert shown(p, variables.become(p, Becomes(CAUSE, variable, kind), dependent=False)) == wanted


def test_a_parameter_is_promoted_where_the_signature_may_change() -> None:
    text = "{0} g(IntArrayRef «w») {{ return; }}\nvoid f(IntArrayRef s) {{ g(s); }}\n"
    for head, wanted in (
        ("static void", ["later: s is required or converted", "'IntArrayRef' to 'c10::SymIntArrayRef'"]),
        ("void", ["refuses external-linkage at w", "'IntArrayRef' to 'c10::SymIntArrayRef'"]),
    ):
        p, node = place(HEAD + text.format(head))
        variable = p.model.resolved[node]
        assert variable is not None
        assert shown(p, variables.become(p, Becomes(CAUSE, variable, REF), dependent=False)) == wanted


@pytest.mark.parametrize(
    ("text", "kind", "wanted"),
    [
        ("«k» = 0;", INT, ["k stores SYM_INT k"]),
        ("«v[0]» = 0;", INT, ["v is required"]),
        ("«v.front()» = 0;", INT, ["v is required"]),
        ("«somewhere» = 0;", INT, ["refuses unknown-target at somewhere"]),
        ("«s[0].sym_size(0)» = 0;", INT, ["refuses unknown-target at s[0].sym_size(0)"]),
    ],
)
def test_what_can_be_assigned_to(text: str, kind: Type, wanted: list[str]) -> None:
    p, node = place(text)
    assert shown(p, variables.put(p, Puts(CAUSE, node, kind))) == wanted


@pytest.mark.parametrize(
    ("text", "convert", "wanted"),
    [
        ("use(«s»);", False, ["s becomes SYM_REF"]),
        ("use(«(s)»);", True, ["s is required or converted"]),
        ("use(«n»);", False, []),
        ("use(«{n, 1}»);", False, []),
        ("use(«ok ? s : v»);", False, ["s is required", "v is required"]),
        ("use(«v.begin() + 1»);", False, ["v is required"]),
        ("use(«t.sizes()»);", False, ["SEED"]),
        ("use(«s.slice(1)»);", False, ["s is required"]),
        ("use(«std::move(v)»);", False, ["v is required"]),
        ("use(«IntArrayRef(v)»);", False, ["IntArrayRef(v) constructs INT_REF", "v is required"]),
        ("use(«somebody()»);", False, ["refuses concrete-operand at somebody()"]),
    ],
)
def test_where_an_array_comes_from(text: str, convert: bool, wanted: list[str]) -> None:
    p, node = place(text)
    required = Requires(CAUSE, node, convert)
    assert shown(p, backward_requirements.demand(p, required)) == wanted


def test_an_array_that_stays_is_converted_where_that_is_exact() -> None:
    text = f"{HEAD}void f(IntArrayRef s) {{ use(«s»); }}"
    for convert, wanted in ((True, ["'' to 'c10::fromIntArrayRefSlow('", "'' to ')'"]), (False, ["s becomes SYM_REF"])):
        p, node = place(text)
        assert shown(p, backward_requirements.demand(p, Requires(CAUSE, node, convert))) == wanted


@pytest.mark.parametrize(
    ("text", "kind", "wanted"),
    [
        ("use(«DimVector(s)»);", Type.INT_VEC,
         ["CALL", "'DimVector' to 'c10::SymDimVector'", "DimVector(s) is SYM_VEC"]),
        ("use(«Mine(s)»);", Type.INT_VEC, ["refuses declared-type at Mine(s)"]),
    ],
)  # fmt: skip
def test_a_construction_takes_the_symbolic_type(text: str, kind: Type, wanted: list[str]) -> None:
    p, node = place(text)
    made = Constructs(CAUSE, node, node.child_by_field_name("function"), kind)
    assert shown(p, backward_requirements.construct(p, made)) == wanted


@pytest.mark.parametrize(
    ("returns", "kind", "wanted"),
    [
        ("int64_t", INT, ["g() gives SYM_INT"]),
        ("c10::SymInt", INT, []),
        ("bool", INT, ["refuses return-type at m"]),
        ("std::vector<int64_t>", REF, ["g() gives SYM_VEC"]),
    ],
)
def test_what_a_function_can_give_back(returns: str, kind: Type, wanted: list[str]) -> None:
    p, node = place(f"{HEAD}static {returns} g(int64_t m) {{ return «m»; }}")
    function = p.model.innermost(node)
    assert function is not None
    assert shown(p, results.give_back(p, Returns(CAUSE, function, kind, node))) == wanted


def test_a_result_takes_the_calls_with_it() -> None:
    p, node = place(f"{HEAD}static int64_t g() {{ return «1»; }}\nvoid f() {{ use(g()); }}\n")
    function = p.model.innermost(node)
    assert function is not None
    found = shown(p, results.give(p, Gives(CAUSE, function, INT, node)))
    assert found == ["'int64_t' to 'c10::SymInt'", "later: g() is SYM_INT"]


AUTOGRAD = """using namespace torch::autograd;
struct Double : Function<Double> {
  static Tensor forward(AutogradContext* ctx, const Tensor& t) { ctx->saved_data["n"] = «n»; return t; }
  static variable_list backward(AutogradContext* ctx, variable_list g) { return {READ}; }
};
"""


@pytest.mark.parametrize(
    ("read", "wanted"),
    [
        ('g[0].narrow(0, 0, ctx->saved_data["n"].toInt())',
         ["'toInt' to 'toSymInt'", 'later: ctx->saved_data["n"].toInt() is SYM_INT']),
        ('ctx->saved_data["n"].toString()', ['refuses saved-data at ctx->saved_data["n"].toString']),
        ("somebody(ctx)", ["refuses saved-data at ctx"]),
    ],
)  # fmt: skip
def test_the_readers_of_what_is_kept_follow(read: str, wanted: list[str]) -> None:
    p, node = place(HEAD + AUTOGRAD.replace("READ", read))
    target = node.parent.child_by_field_name("left") if node.parent is not None else None
    assert target is not None
    found = shown(p, saved_values.keep(p, Keeps(CAUSE, target, '"n"', INT)))
    assert found == ['SAVED saved_data["n"]', *wanted]


def test_a_kernel_follows_its_schema() -> None:
    head = "Tensor narrow(const Tensor& self, int64_t dim, int64_t «start», int64_t length)"
    text = f"namespace at::native {{\n{head} {{ return self; }}\n}}"
    p, _ = place(text, path="aten/src/ATen/native/TensorShape.cpp")
    live, _, _ = seeds(p.know, signatures=True)
    (seed,) = live
    assert seed.expected is not None and seed.expected.name == "narrow_symint"
    p = p._replace(expected={seed.function.node.id: seed.expected})
    found = shown(p, kernels.follow(p, seed, seed.expected))
    assert found == ["'narrow' to 'narrow_symint'", "start becomes SYM_INT", "length becomes SYM_INT"]


def test_a_kernel_that_kernel_code_calls_does_not_follow() -> None:
    text = """namespace at::native {
Tensor narrow(const Tensor& self, int64_t dim, int64_t «start», int64_t length) { return self; }
Tensor _cholesky_solve_helper_cpu(const Tensor& self, const Tensor& A, bool upper) { return narrow(self, 0, 0, 1); }
Tensor ravel(const Tensor& self) { return narrow(self, 0, 0, 2); }
}"""
    p, _ = place(text, path="aten/src/ATen/native/TensorShape.cpp")
    (seed, *_) = (one for one in seeds(p.know, signatures=True)[0] if one.expected is not None)
    assert seed.expected is not None
    found = shown(p, kernels.follow(p, seed, seed.expected))
    assert "refuses shared-with-kernel at narrow(self, 0, 0, 1)" in found
    assert found.count("'narrow' to 'narrow_symint'") == 2


def test_what_is_known_only_at_the_end() -> None:
    p, node = place("use(«k»);")
    match = Matches(CAUSE, node, frozenset({Type.INT}), SkipReason.RETURN_TYPE)
    assert shown(p, deferred_facts.resolve_deferred(p, match)) == ["'' to 'c10::SymInt('", "'' to ')'"]
    assert (
        shown(
            p._replace(promoted={node.id: INT}),
            deferred_facts.resolve_deferred(p._replace(promoted={node.id: INT}), match),
        )
        == []
    )
    assert shown(p, deferred_facts.resolve_deferred(p, match._replace(wrapped=frozenset()))) == [
        "refuses return-type at k"
    ]
    p, node = place("auto «m» = 0;")
    variable = p.model.resolved[node]
    assert variable is not None
    assert shown(p, deferred_facts.resolve_deferred(p, Deduces(CAUSE, variable))) == ["'auto' to 'c10::SymInt'"]
    p, call = place("use(«std::max(k, n + 1)»);", promoted={"n + 1": INT})
    one, other = arguments(call)
    selects = Selects(CAUSE, call, "max", (one, other))
    assert shown(p, deferred_facts.resolve_deferred(p, selects)) == ["'std::max(k, n + 1)' to '(n + 1).max(k)'"]
