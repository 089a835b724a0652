"""Tests of tuples, whose parts are promoted separately, and of code on real data, which converts sizes to integers."""

from __future__ import annotations

import pytest
from cpp_facts import CAUSE, HEAD, place, shown
from symfix.cpp.analysis.graph.dataflow_facts import GivesPart
from symfix.cpp.analysis.graph.reasons import SkipReason
from symfix.cpp.analysis.handlers.guard_int import realize
from symfix.cpp.analysis.handlers.tuples import give_part, index_of, part_of, returned_part, tied
from symfix.cpp.syntax.types import Type

INT, VEC = Type.SYM_INT, Type.SYM_VEC
GIVEN = f"{HEAD}static std::tuple<DimVector, int64_t> g(Tensor t) {{ DimVector v; return std::make_tuple(v, 1); }}\n"


@pytest.mark.parametrize(
    ("text", "kind", "position"),
    [
        ("static std::tuple<int64_t, bool> g(Tensor t) { return std::make_tuple(«t», true); }", INT, 0),
        ("static std::tuple<bool, int64_t> g(Tensor t) { return {true, «t»}; }", INT, 1),
        ("static std::pair<int64_t, int64_t> g(Tensor t) { return std::make_pair(1, «t»); }", INT, 1),
        ("static std::tuple<int64_t, bool> g(Tensor t) { return somebody(«t», true); }", INT, None),
        ("static auto g(Tensor t) { return std::make_tuple(«t», true); }", INT, None),
        ("static std::tuple<int64_t, bool> g(Tensor t) { auto x = std::make_tuple(«t», true); return x; }", INT, None),
    ],
)
def test_a_value_is_a_part_of_what_a_function_returns(text: str, kind: Type, position: int | None) -> None:
    p, node = place(HEAD + text)
    made = node.parent if node.parent is None or node.parent.type == "initializer_list" else node.parent.parent
    assert made is not None
    found = returned_part(p, node, made, kind, CAUSE)
    assert (None if found is None else found.position) == position


@pytest.mark.parametrize(
    ("rest", "position", "wanted"),
    [
        ("void f(Tensor t) { auto x = g(t); use(std::get<0>(x), std::get<1>(x)); }", 0,
         ["'DimVector' to 'c10::SymDimVector'", "later: v is required", "later: std::get<0>(x) is SYM_VEC"]),
        ("void f(Tensor t) { auto [a, b] = g(t); use(a, b); }", 1,
         ["'int64_t' to 'c10::SymInt'", "later: b is SYM_INT"]),
        ("void f(Tensor t) { int64_t n; std::tie(std::ignore, n) = g(t); }", 1,
         ["'int64_t' to 'c10::SymInt'", "n is assigned SYM_INT"]),
        ("void f(Tensor t) { int64_t n; std::tie(std::ignore, n) = g(t); }", 0,
         ["'DimVector' to 'c10::SymDimVector'", "later: v is required"]),
        ("void f(Tensor t) { auto x = g(t); use(x.second); use(x.first); }", 1,
         ["'int64_t' to 'c10::SymInt'", "later: x.second is SYM_INT"]),
        ("void f(Tensor t) { auto x = g(t); use(x.third); }", 1,
         ["'int64_t' to 'c10::SymInt'", "refuses structured-binding at x.third"]),
        ("void f(Tensor t) { use(g(t)); }", 1,
         ["'int64_t' to 'c10::SymInt'", "refuses structured-binding at g(t)"]),
        ("void f(Tensor t) { std::tuple<DimVector, int64_t> x = g(t); }", 1,
         ["'int64_t' to 'c10::SymInt'", "refuses structured-binding at g(t)"]),
        ("void f(Tensor t) { auto p = &g; }", 1,
         ["'int64_t' to 'c10::SymInt'", "refuses function-escapes at g"]),
    ],
)  # fmt: skip
def test_where_a_part_is_taken_out_it_is_symbolic(rest: str, position: int, wanted: list[str]) -> None:
    p, node = place(f"{GIVEN}{rest}\nvoid h(Tensor t) {{ use(«t»); }}")
    function = p.model.named("g")[0]
    kind = (VEC, INT)[position]
    assert shown(p, give_part(p, GivesPart(CAUSE, function, position, kind, node))) == wanted


@pytest.mark.parametrize(
    ("text", "position", "wanted"),
    [
        ("use(«g(t)»);", 0, ["g() part 0 gives SYM_VEC"]),
        ("auto x = g(t); use(«x»);", 1, ["g() part 1 gives SYM_INT"]),
        ("use(«true ? g(t) : g(t)»);", 0, ["g() part 0 gives SYM_VEC"] * 2),
        ("use(«somebody(t)»);", 0, ["refuses concrete-operand at somebody(t)"]),
    ],
)
def test_which_functions_give_a_part(text: str, position: int, wanted: list[str]) -> None:
    p, node = place(f"{GIVEN}void f(Tensor t) {{ {text} }}")
    assert shown(p, part_of(p, node, position, CAUSE)) == wanted


@pytest.mark.parametrize(
    ("text", "kind", "wanted"),
    [
        ("int64_t n; DimVector v; std::tie(v, «n») = g(t);", INT, []),
        ("int64_t n; DimVector v; std::tie(«v», n) = g(t);", VEC, ["g() part 0 gives SYM_VEC"]),
        ("int64_t n; bool b; std::tie(«n», b) = somebody(t);", INT, ["refuses mixed-assignment at somebody(t)"]),
        ("int64_t n; use(std::tie(«n», n) < std::tie(n, n));", INT, ["refuses unknown-callee at std::tie(n, n)"]),
    ],
)
def test_a_part_is_put_into_a_value(text: str, kind: Type, wanted: list[str]) -> None:
    p, node = place(f"{GIVEN}void f(Tensor t) {{ {text} }}")
    assert node.parent is not None and node.parent.parent is not None
    assert shown(p, tied(p, node, node.parent.parent, kind, CAUSE)) == wanted


def test_the_number_of_a_get() -> None:
    p, node = place("use(«std::get<2>(v)»);")
    assert index_of(p, node) == 2
    p, node = place("use(«std::get<Mine>(v)»);")
    assert index_of(p, node) is None


@pytest.mark.parametrize(
    ("text", "kind", "wanted"),
    [
        ("t.narrow(0, 0, «n»);", INT, ["'' to '.guard_int(__FILE__, __LINE__)'"]),
        ("use(«n» + 1);", INT, ["'' to '.guard_int(__FILE__, __LINE__)'"]),
        ("auto m = «n»;", INT, ["'' to '.guard_int(__FILE__, __LINE__)'"]),
        ("«n» = 3;", INT, []),
        ("«n» += 3;", INT, ["refuses device-branch at n"]),
        ("auto& m = «n»;", INT, ["refuses device-branch at n"]),
        ("somebody(«n»);", INT, ["refuses device-branch at n"]),
        ("t.view(«s»);", Type.SYM_REF, ["'' to 'C10_AS_INTARRAYREF_SLOW_ALLOC('", "'' to ')'"]),
        ("«v» = s;", VEC, ["s is required"]),
        ("auto w = «v»;", VEC, ["refuses device-branch at v"]),
        ("use(*«o»);", Type.OPTIONAL_SYM_REF, ["*o is SYM_REF"]),
        ("use(«o».value());", Type.OPTIONAL_SYM_REF, ["o.value() is SYM_REF"]),
        ("use(«o».has_value());", Type.OPTIONAL_SYM_REF, []),
        ("use(«o»);", Type.OPTIONAL_SYM_REF, ["refuses device-branch at o"]),
        ("somebody(«v»);", VEC, ["refuses device-branch at v"]),
    ],
)
def test_on_real_data_a_value_is_turned_back_where_it_is_read(text: str, kind: Type, wanted: list[str]) -> None:
    p, node = place(text)
    assert shown(p, realize(p, node, kind, CAUSE, SkipReason.DEVICE_BRANCH)) == wanted
