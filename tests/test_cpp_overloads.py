"""Tests of overloads: the one that a call or a schema means, and the conditions for changing their signatures."""

from __future__ import annotations

import pytest
from cpp_facts import HEAD, place
from goldens import installed_torch
from symfix.cpp.analysis.file.eligibility import successors, symint_name
from symfix.cpp.analysis.file.overloads import required, resolve_overload
from symfix.cpp.analysis.graph.reasons import SkipReason
from symfix.cpp.analysis.handlers.signatures import may_change, uses
from symfix.cpp.syntax.types import Type

NATIVE = "aten/src/ATen/native/Windows.cpp"


@pytest.mark.parametrize(
    ("signatures", "passed", "which"),
    [
        (("Tensor t", "Tensor t, int64_t k"), (Type.TENSOR,), [0]),
        (("Tensor t", "Tensor t, int64_t k"), (Type.TENSOR, Type.INT), [1]),
        (("Tensor t, int64_t k = 1", "Tensor t, double x = 2"), (Type.TENSOR,), [0, 1]),
        (("int64_t k", "double x"), (Type.INT,), [0]),
        (("int64_t k", "double x"), (Type.UNKNOWN,), [0, 1]),
        (("int64_t k", "IntArrayRef s"), (Type.INT,), [0]),
        (("double x", "IntArrayRef s"), (Type.INT,), [0, 1]),
        (("Tensor t", "IntArrayRef s"), (Type.INT_VEC,), [1]),
        (("Tensor t", "Mine m"), (Type.TENSOR,), [0]),
        (("Tensor t", "Mine m"), (Type.UNKNOWN,), [0, 1]),
    ],
)
def test_which_functions_a_call_may_mean(
    signatures: tuple[str, ...], passed: tuple[Type, ...], which: list[int]
) -> None:
    text = "".join(f"static void g({one}) {{}}\n" for one in signatures)
    p, _ = place(f"{HEAD}{text}void f(Tensor t) {{ use(«t»); }}")
    candidates = p.model.named("g")
    found = resolve_overload([(one, required(p.model, p.know.api, one)) for one in candidates], passed)
    assert [candidates.index(one) for one in found] == which


def test_a_signature_may_change_beside_functions_that_no_call_confuses_it_with() -> None:
    text = "static int64_t g(int64_t k) { return k; }\nstatic int64_t g(int64_t k, int64_t n) { return g(«k») + n; }\n"
    p, _ = place(HEAD + text)
    one, two = p.model.named("g")
    assert may_change(p, one) is None and may_change(p, two) is None
    assert len(uses(p, one).calls) == 1 and uses(p, two).calls == ()
    for other in (
        "static double g(double x) { return x; }",
        "static int64_t g(int64_t k, int64_t n = 2) { return k; }",
    ):
        p, _ = place(f"{HEAD}static int64_t g(int64_t k) {{ return «k»; }}\n{other}\n")
        refusal = may_change(p, p.model.named("g")[0])
        assert refusal is not None and refusal[0] is SkipReason.OVERLOADED


def test_a_default_may_stand_in_a_declaration() -> None:
    p, _ = place(
        f"{HEAD}static int64_t g(int64_t k, int64_t n = 1);\nstatic int64_t g(int64_t k, int64_t n) {{ return «k»; }}"
    )
    (own,) = p.model.named("g")
    assert required(p.model, p.know.api, own) == 0


def test_a_call_that_may_mean_two_is_an_escape_of_both() -> None:
    text = "static void g(int64_t k) {}\nstatic void g(double x) {}\nvoid f(Tensor t) { g(«somebody()»); }"
    p, _ = place(HEAD + text)
    for own in p.model.named("g"):
        assert [reason for _, reason, _ in uses(p, own).escapes] == [SkipReason.OVERLOADED]


def test_what_the_schema_calls_an_overload() -> None:
    names = [kernel.name for kernel in successors(installed_torch(), "conv1d")]
    assert names == ["conv1d_symint", "conv1d_padding_symint"]
    assert successors(installed_torch(), "somebody") == ()


def test_every_name_that_torch_knows_something_of_is_among_its_names() -> None:
    api = installed_torch()
    assert b"somebody" not in api.names
    for name in (*api.names, b"add_outf", b"narrow_symint", b"mean_symint_out", b"conv1d_padding_symint"):
        for form in (name.decode(), name.decode().replace("_symint", ""), symint_name(name.decode())):
            if api.kernels(form) or successors(api, form):
                assert form.encode() in api.names


@pytest.mark.parametrize(
    ("signature", "kernel"),
    [
        ("const Tensor& self, int64_t dim, int64_t start, int64_t length", "narrow_symint"),
        ("const Tensor& self, int64_t dim, const Tensor& start, int64_t length", "narrow_tensor_symint"),
        ("const Tensor& self, int64_t dim, IntArrayRef start, int64_t length", None),
    ],
)
def test_each_of_two_kernels_follows_its_own_overload(signature: str, kernel: str | None) -> None:
    other = "Tensor narrow(const Tensor& self) { return self; }"
    text = f"namespace at::native {{\nTensor narrow({signature}) {{ return «self»; }}\n{other}\n}}"
    p, _ = place(text, path=NATIVE)
    expected = p.know.eligibility.expected(p.model.named("narrow")[0])
    assert (None if expected is None else expected.name) == kernel
    assert p.know.eligibility.expected(p.model.named("narrow")[1]) is None
