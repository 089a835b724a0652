"""Tests of struct members: recognized structs, consequences of a symbolic member, and reasons to keep it concrete."""

from __future__ import annotations

import pytest
from cpp_facts import CAUSE, HEAD, place, shown
from symfix.cpp.analysis.graph.dataflow_facts import Divides, Widens
from symfix.cpp.analysis.handlers.fields import divide, struct_made, widen
from symfix.cpp.syntax.structs import bare_type
from symfix.cpp.syntax.tree import every
from symfix.cpp.syntax.types import Type

STRUCT = f"{HEAD}struct S {{ int64_t rows; DimVector shape, dim; }};\n"


def widened(member: str, rest: str, head: str = STRUCT) -> list[str]:
    p, node = place(f"{head}{rest}\nTensor use(Tensor t) {{ return «t»; }}")
    field = p.model.structs["S"].field(member)
    assert field is not None
    return shown(p, widen(p, Widens(CAUSE, field, node)))


@pytest.mark.parametrize(
    ("text", "members"),
    [
        ("struct S { int64_t a; DimVector b, c; };", [("a", Type.INT), ("b", Type.INT_VEC), ("c", Type.INT_VEC)]),
        ("struct S { int64_t a = 0; int64_t* p; };", [("a", Type.INT), ("p", Type.UNKNOWN)]),
        ("struct S { int64_t a; int64_t f(); };", None),
        ("struct S : T { int64_t a; };", None),
        ("struct S { static int64_t a; };", None),
        ("class S { int64_t a; };", None),
        ("template <typename T> struct S { int64_t a; };", None),
        ("struct S { int64_t a; }; namespace n { struct S { int64_t b; }; }", None),
    ],
)
def test_only_structs_of_plain_members_are_read(text: str, members: list[tuple[str, Type]] | None) -> None:
    p, _ = place(f"{HEAD}{text}\nTensor f(Tensor t) {{ return «t»; }}")
    struct = p.model.structs.get("S")
    assert (None if struct is None else [(field.name, field.type) for field in struct.fields]) == members


def test_a_type_is_named_without_its_decoration() -> None:
    assert bare_type("const at::native::S &") == "S"
    assert bare_type("std::vector<at::S>") != "S"


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("S s; use(«s.rows»);", Type.INT),
        ("const S& s = made(); use(«s.shape»);", Type.INT_VEC),
        ("auto s = made(); use(«s.rows»);", Type.INT),
        ("auto s = S{1, {}, {}}; use(«s.rows»);", Type.INT),
        ("auto [r, s, d] = made(); use(«s»);", Type.INT_VEC),
        ("auto s = somebody(); use(«s.rows»);", Type.UNKNOWN),
        ("T s; use(«s.rows»);", Type.UNKNOWN),
    ],
)
def test_what_a_member_holds(text: str, known: Type) -> None:
    p, node = place(f"{STRUCT}S made();\nS made() {{ S s; return s; }}\nvoid f() {{ {text} }}")
    assert p.types.type_of(node) is known


def test_what_names_or_fills_a_member_follows_it() -> None:
    rest = "static S made(S s, DimVector v) { use(s.rows, s.shape); S two{1, v, v}; return {s.rows, v, v}; }"
    assert widened("rows", rest) == [
        "'int64_t' to 'c10::SymInt'",
        "later: s.rows is SYM_INT",
        "later: s.rows is SYM_INT",
    ]
    said = widened("shape", rest)
    assert said == ["S::shape may be divided", "later: s.shape is SYM_VEC", *["later: v is required"] * 2]
    assert widened("rows", "static void f(S s) { auto [r, a, b] = s; use(r); }")[-1] == "later: r is SYM_INT"


@pytest.mark.parametrize(
    "rest",
    [
        "auto p = &S::rows;",
        "std::vector<S> many;",
        "using Other = S;",
        "S many[2];",
        "size_t bytes = sizeof(S);",
        "template <typename T> int64_t f(T t) { return t.rows; }",
        "void f() { auto [a, b, c] = somebody(); }",
        "static S f(DimVector v) { return S{.rows = 1, .shape = v, .dim = v}; }",
    ],
)
def test_a_member_that_may_be_used_out_of_sight_stays(rest: str) -> None:
    assert any(fact.startswith("refuses struct-field") for fact in widened("rows", rest))


def test_a_member_of_a_struct_that_other_files_can_get_stays() -> None:
    assert widened("rows", "S made() { return {}; }") == ["refuses external-linkage at t"]


def test_a_member_that_kernels_use_stays() -> None:
    text = (
        "namespace at::native {\nstruct S { int64_t rows; };\n"
        "Tensor trapz(const Tensor& y, const Tensor& x, int64_t dim) { S s{«dim»}; return y.narrow(0, 0, s.rows); }\n"
        "Tensor _bincount_cpu(const Tensor& t, const std::optional<Tensor>& w, int64_t m) { S s; use(s.rows); }\n}"
    )
    p, node = place(text, path="aten/src/ATen/native/Shapes.cpp", everything=False)
    field = p.model.structs["S"].field("rows")
    assert field is not None
    assert shown(p, widen(p, Widens(CAUSE, field, node)))[1:] == [
        "later: s.rows is SYM_INT",
        "refuses shared-with-kernel at s.rows",
    ]


@pytest.mark.parametrize(
    ("member", "also", "wanted"),
    [
        ("shape", (), ["'' to 'SymDimVector shape;\n '", "'shape, ' to ''"]),
        ("dim", (), ["', ' to ';\n SymDimVector '"]),
        ("dim", ("shape",), ["'DimVector' to 'SymDimVector'", "FIELD", "FIELD"]),
    ],
)
def test_a_declaration_is_divided_where_a_member_of_it_stays(
    member: str, also: tuple[str, ...], wanted: list[str]
) -> None:
    p, _ = place(f"namespace at {{ {STRUCT[len(HEAD) :]} Tensor f(Tensor t) {{ return «t»; }} }}")
    fields = {name: p.model.structs["S"].field(name) for name in (member, *also)}
    promoted = {field.node.id: Type.SYM_VEC for field in fields.values() if field is not None}
    field = fields[member]
    assert field is not None
    said = shown(p._replace(promoted=promoted), divide(p._replace(promoted=promoted), Divides(CAUSE, field)))
    assert said == wanted


@pytest.mark.parametrize(
    "text",
    [
        "S s = {1, {}, {}};",
        "S s{1, {}, {}};",
        "auto s = S{1, {}, {}};",
        "S s; s = {1, {}, {}};",
        "take({1, {}, {}});",
        "return {1, {}, {}};",
    ],
)
def test_which_lists_in_braces_make_a_struct(text: str) -> None:
    p, _ = place(f"{STRUCT}void take(S s) {{}}\nS f(Tensor t) {{ {text} return {{«t»}}; }}")
    lists = every(p.model.functions[-1].body, "initializer_list")
    made = struct_made(p.types, lists[0])
    assert made is not None and made.name == "S"
    assert struct_made(p.types, lists[1]) is None
