"""Tests of the part of a C++ file that compiles where the whole file does not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from compilers import compilers
from symfix.codemods.torchapi.torch_finder import locate
from symfix.codemods.verify.build.compilation import Builder
from symfix.codemods.verify.build.partial_unit import PartialUnit, loadable_unit, partial_unit
from symfix.codemods.verify.build.toolchain import find_toolchain

FILE = b"""\
#include <cstdint>
#include <no/such/library.h>
#define TWICE(x) \\
  missing::twice(x)
namespace at::native {
static int helper(int x) {
  return missing::helper(x);
}
template <typename T>
T through(T x) {
  return helper(x);
}
int twice(int x) {
  return TWICE(x);
}
int good(int x) {
  return x + 1;
}
int same(int x) {
  return x;
}
int same(double x) {
  return missing::same(x);
}
int same(char x);
int calls(int x) {
  return same(x) + native::twice(x);
}
struct Kept {
  missing::T x;
};
using Pair = std::pair<Kept, int>;
int paired(Pair x);
} // namespace at::native
"""
OMITTED = {
    "#include <no/such/library.h>",
    "static int helper(int x)",
    "template <typename T> T through(T x)",
    "int twice(int x)",
    "int same(int x)",
    "int same(double x)",
    "int same(char x);",
    "int calls(int x)",
    "struct Kept { missing::T x; }",
    "using Pair = std::pair<Kept, int>;",
    "int paired(Pair x);",
}


@pytest.mark.parametrize("compiler", compilers())
def test_what_a_compiler_rejects_is_left_out_on_both_sides(compiler: str, tmp_path: Path) -> None:
    builder = Builder(find_toolchain(locate(None, None), compiler=compiler), tmp_path, precompile=False)

    def built(content: bytes, original: bytes | None) -> tuple[bool, set[str]]:
        made = builder.compile("partial.cpp", content, original=original).result()
        return made.target is not None, set(made.omitted)

    assert built(FILE, None) == (False, set())
    assert built(FILE, FILE) == (True, OMITTED)
    assert built(FILE.replace(b"x + 1", b"x + 2"), FILE) == (True, OMITTED)
    assert not built(FILE.replace(b"x + 1", b"nothing"), FILE)[0], "an error of the change is an error"
    assert built(FILE.replace(b"x + 1", b"same(x)"), FILE) == (False, set()), "the change uses what is left out"
    assert built(FILE.replace(b"missing::helper(x)", b"x"), FILE) == (False, set()), "the change is in what is left out"
    whole = b"int f(int x) {\n  return x;\n}\n"
    assert built(whole, whole) == (True, set())
    assert built(whole.replace(b"x;", b"y;"), whole) == (False, set())
    builder.close()


def test_a_change_that_uses_what_is_left_out_is_none_of_the_part() -> None:
    part = PartialUnit(tuple(OMITTED))
    for use, apart in (("x.same(1)", True), ("at::same(x)", True), ("native::same(x)", False), ("helper", False)):
        assert part.omits_the_same(FILE, FILE.replace(b"x + 1", use.encode())) is apart, use


def test_an_error_inside_a_macro_is_that_of_its_users() -> None:
    content = b"""#define ONE(x) \\
  missing(x)
#define TWO(x) ONE(x)
int a() { return ONE(1); }
int b() { return TWO(1); }
int c() { return 1; }
"""
    said = iter(["f.cpp:2:3: error: no\nf.cpp:2:3: note: in definition of macro 'ONE'", ""])
    assert partial_unit(content, "f.cpp", lambda _: next(said)).omitted == ("int a()", "int b()")


REGISTERING = b"""\
#include <torch/library.h>
#include <torch/custom_class.h>
namespace at::native {
struct Params : torch::CustomClassHolder {};
Tensor kept(const Tensor& x) {
  return x;
}
namespace {
auto registry = torch::class_<Params>("rnn", "CellParamsBase");
auto& same = registry;
TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def("quantized_gru.input(Tensor x) -> Tensor");
}
TORCH_LIBRARY_IMPL(aten, CPU, m) {}
}
} // namespace at::native
"""


LOAD = """\
import ctypes, pathlib, sys, torch
ctypes.CDLL(str(pathlib.Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"), mode=ctypes.RTLD_GLOBAL)
ctypes.CDLL(sys.argv[1])
"""


@pytest.mark.parametrize("compiler", compilers())
def test_schemas_and_classes_that_torch_has_registered_are_left_out(compiler: str, tmp_path: Path) -> None:
    builder = Builder(find_toolchain(locate(None, None), compiler=compiler), tmp_path, precompile=False)

    def printed_on_load(original: bytes | None) -> str:
        made = builder.compile("registering.cpp", REGISTERING, original=original).result()
        assert made.target is not None, made.errors
        library = builder.link([made.target], "registering").result()
        asked = [sys.executable, "-c", LOAD, str(library.target)]
        return subprocess.run(asked, capture_output=True, text=True).stderr

    twice = "Custom class with name __torch__.torch.classes.rnn.CellParamsBase is already registered"
    assert twice in printed_on_load(None)
    assert printed_on_load(REGISTERING) == ""
    builder.close()
    assert loadable_unit(REGISTERING).omitted == (
        'auto registry = torch::class_<Params>("rnn", "CellParamsBase");',
        "TORCH_LIBRARY_FRAGMENT(aten, m)",
        "auto& same = registry;",
    )
    assert loadable_unit(FILE) == PartialUnit()
    extension = REGISTERING.replace(b"at::native", b"rnn")
    assert loadable_unit(extension) == PartialUnit(), "an extension registers its own"


NAMED = b"""\
#include <ATen/NamedTensorUtils.h>
#include <torch/library.h>
namespace at::native {
Tensor named(const Tensor& x) {
  auto names = namedinference::compute_outnames(x);
  auto result = [&]() {
    NoNamesGuard guard;
    Tensor inner = x;
    guard.reset();
    return inner;
  }();
  if (x.dim() == 0)
    namedinference::propagate_names(result, x);
  namedinference::propagate_names(result, names);
  return result;
}
Tensor used(const Tensor& x) {
  auto names = namedinference::compute_outnames(x);
  return names.empty() ? x : Tensor();
}
} // namespace at::native
"""


@pytest.mark.parametrize("compiler", compilers())
def test_statements_about_names_of_dimensions_are_left_out_of_functions_that_stay(
    compiler: str, tmp_path: Path
) -> None:
    builder = Builder(find_toolchain(locate(None, None), compiler=compiler), tmp_path, precompile=False)

    def built(content: bytes) -> tuple[bool, set[str]]:
        made = builder.compile("partial.cpp", content, original=NAMED).result()
        return made.target is not None, set(made.omitted)

    omitted = {
        "#include <ATen/NamedTensorUtils.h>",
        "Tensor used(const Tensor& x)",
        "auto names = namedinference::compute_outnames(x)",
        "NoNamesGuard guard",
        "guard.reset()",
        "namedinference::propagate_names(result, x)",
        "namedinference::propagate_names(result, names)",
    }
    assert built(NAMED) == (True, omitted)
    assert built(NAMED.replace(b"inner = x", b"inner = Tensor(x)")) == (True, omitted)
    assert built(NAMED.replace(b"(result, names)", b"(x, names)")) == (False, set()), (
        "the change is in what is left out"
    )
    builder.close()


def test_of_a_statement_about_names_the_semicolon_stays() -> None:
    part = PartialUnit(("#include <ATen/NamedTensorUtils.h>", "Tensor used(const Tensor& x)"))
    lines = [line.strip() for line in part.of(NAMED).decode().splitlines()]
    assert lines[4:15] == [
        ";", "auto result = [&]() {", ";", "Tensor inner = x;", ";", "return inner;", "}();", "if (x.dim() == 0)",
        ";", ";", "return result;",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("statement", "left"),
    [
        ("namedinference::propagate_names(std::get<0>(r), x.names());", ";"),
        ("namedinference::propagate_names(r, x).copy_(y);", None),
        ("namedinference::propagate_names(r, x), n += 1;", None),
        ("namedinference::propagate_names(r.zero_(), x);", None),
        ("namedinference::propagate_names(r.resize({n}), x);", None),
        ("namedinference::propagate_names(r, n++);", None),
        ("r = namedinference::propagate_names(r, x);", None),
        ("return namedinference::propagate_names(r, x);", None),
        ("auto a = namedinference::names(x), b = n++;", None),
        ("auto a = namedinference::names(x); USE(a);", None),
        ("NoNamesGuard guard; if (n) { guard.reset(); }", None),
        ("NoNamesGuard guard = made(n++);", None),
        ("auto a = namedinference::names(x); p.reset();", "; p.reset();"),
    ],
)
def test_a_statement_about_names_stays_if_it_does_more(statement: str, left: str | None) -> None:
    content = f"#include <ATen/NamedTensorUtils.h>\nTensor f() {{\n{statement}\n}}\n".encode()
    line = PartialUnit(("#include <ATen/NamedTensorUtils.h>",)).of(content).decode().splitlines()[2]
    assert line.strip() == (left or statement)


def test_lines_keep_their_numbers() -> None:
    part = PartialUnit(("int twice(int x)", "#include <no/such/library.h>"))
    lines, were = part.of(FILE).splitlines(), FILE.splitlines()
    assert [number for number, line in enumerate(were, 1) if lines[number - 1] != line] == [2, 13, 14, 15]
    assert not any(lines[number - 1].strip() for number in (2, 13, 14, 15))


@pytest.mark.parametrize(
    ("printed", "omitted"),
    [
        ("/u/unit-1/f.cpp:1:9: error: no", ("int a()",)),
        ("In file included from x.h:3,\n                 from /u/f.cpp:1:\ny.h:3:1: fatal error: no", ("int a()",)),
        ("y.h: In instantiation of 'T':\nf.cpp:2:10:   required from here\ny.h:3:1: error: no", ("int b()",)),
        ("y.h:3:1: error: no\nf.cpp:2:3: note: in instantiation of 'T' requested here", ("int b()",)),
        ("f.cpp:1:1: error: no\nf.cpp:2:3: note: candidate: int b()", ("int a()",)),
        ("y.h:3:1: error: no", ()),
        ("f.cpp:9:1: error: no", ()),
    ],
)
def test_an_error_is_that_of_one_definition(printed: str, omitted: tuple[str, ...]) -> None:
    content = b"int a() { return 1; }\nint b() { return 2; }\n"
    said = iter([printed, ""])
    assert partial_unit(content, "f.cpp", lambda _: next(said)).omitted == omitted
