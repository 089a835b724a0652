"""Tests of registrations in C++ and Python text: expanded macros, dispatch keys, and projects of several files."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import symfix
from symfix.codemods.engine.project_facts import project_digest, project_facts
from symfix.codemods.engine.registry import Registry, WingCard
from symfix.cpp.analysis.file.registrations import is_for_fakes
from symfix.cpp.syntax.library_blocks import Registration, read_blocks, registering_macros
from symfix.cpp.syntax.macros import definitions
from symfix.cpp.syntax.project import Project, project_of, read_project


def read(text: str, *headers: str) -> list[Registration]:
    macros = registering_macros(list(headers))
    return [one for block in read_blocks(text.encode(), macros) for one in block.registrations]


def said(one: Registration) -> tuple[str, tuple[str, ...], str | None]:
    return one.operator, one.functions, one.key


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('TORCH_LIBRARY(a, m) { m.def("f(Tensor x) -> Tensor", &f); }', ("a::f", ("f",), "")),
        ('TORCH_LIBRARY(a, m) { m.def("f(Tensor x) -> Tensor"); }', ("a::f", (), "")),
        ('TORCH_LIBRARY_IMPL(a, Meta, m) { m.impl("f", TORCH_FN(b::f)); }', ("a::f", ("b::f",), "Meta")),
        ('TORCH_LIBRARY_IMPL(JOIN(a, _b), CUDA, m) { m.impl("f", f); }', ("JOIN(a,_b)::f", ("f",), "CUDA")),
        ('TORCH_LIBRARY_FRAGMENT(a, m) { m.impl("f", torch::dispatch(c10::DispatchKey::Meta, TORCH_FN(f))); }',
         ("a::f", ("f",), "Meta")),
        ('TORCH_LIBRARY_FRAGMENT(a, m) { m.impl("f", torch::kCPU, f); }', ("a::f", ("f",), "CPU")),
        ('TORCH_LIBRARY_FRAGMENT(a, m) { m.impl("c::f.out", &g<4, int>); }', ("c::f.out", ("g",), "")),
        ('TORCH_LIBRARY_IMPL(a, Meta, m) { m.impl(TORCH_SELECTIVE_NAME("a::f"), (&f)); }', ("a::f", ("f",), "Meta")),
        ('TORCH_LIBRARY_IMPL(a, Meta, m) { m.impl("f", static_cast<Tensor (*)(Tensor)>(&f), {}); }',
         ("a::f", ("static_cast", "f"), "Meta")),
        ('TORCH_LIBRARY_IMPL(a, Meta, m) { m.impl("f", [](Tensor x) { return g(x); }); }', ("a::f", (), "Meta")),
        ('static auto r = torch::RegisterOperators("a::f", &f);', ("a::f", ("f",), "")),
        ('static auto r = torch::RegisterOperators().op("a::f(Tensor x) -> Tensor", &f);', ("a::f", ("f",), "")),
        ('THEIR_MACRO(CUDA, "a::f", their::f);', ("a::f", ("their::f",), "CUDA")),
        ('// TORCH_LIBRARY_IMPL(a, CPU, m) { m.impl("f", f); }\nTHEIR(Meta, "a::g", g)', ("a::g", ("g",), "Meta")),
    ],
)  # fmt: skip
def test_one_registration(text: str, expected: tuple[str, tuple[str, ...], str | None]) -> None:
    (found,) = read(text)
    assert said(found) == expected


@pytest.mark.parametrize(
    "text",
    [
        '#define TORCH_LIBRARY_IMPL(a, Meta, m) m.impl("f", f)',
        'TORCH_CHECK(x.is_cuda(), "expected CUDA");',
        'const char* s = "TORCH_LIBRARY(a, m) { m.def(1, f); }";',
        'REGISTER_DISPATCH(sum_stub, &sum_kernel);',
        'THEIR_MACRO("CUDA", "a::f", f);',
    ],
)  # fmt: skip
def test_what_registers_nothing(text: str) -> None:
    assert read(text) == []


HEADER = """
#define TO_META(name, function) \\
  m.impl(name, torch::dispatch(c10::DispatchKey::Meta, TORCH_FN(function)))
#define DISPATCH_ONE(KEY, NAME, FUNCTION) \\
  TORCH_LIBRARY_IMPL(ours, KEY, m) {      \\
    m.impl(NAME, TORCH_FN(FUNCTION));     \\
  }
#define FOR_WIDTH(bits)                       \\
  m.def("pack_" #bits "(Tensor x) -> Tensor"); \\
  m.impl("pack_" #bits, &pack_##bits<bits>)
#define OUR_FRAGMENT() TORCH_LIBRARY_FRAGMENT(ours, m)
#define ON_META Meta
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('TORCH_LIBRARY_FRAGMENT(ours, m) { TO_META("f", f); }', [("ours::f", ("f",), "Meta")]),
        ('DISPATCH_ONE(CUDA, "f", ours::f);', [("ours::f", ("ours::f",), "CUDA")]),
        ('DISPATCH_ONE(ON_META, "f", f)', [("ours::f", ("f",), "Meta")]),
        ("TORCH_LIBRARY_IMPL(ours, CPU, m) { FOR_WIDTH(4); }",
         [("ours::pack_4", (), "CPU"), ("ours::pack_4", ("pack_4",), "CPU")]),
        ('OUR_FRAGMENT() { m.def("f(Tensor x) -> Tensor", f); }', [("ours::f", ("f",), "")]),
    ],
)  # fmt: skip
def test_a_macro_of_another_file_is_expanded(
    text: str, expected: list[tuple[str, tuple[str, ...], str | None]]
) -> None:
    assert [said(one) for one in read(text, HEADER)] == expected


def test_a_macro_that_is_nowhere_defined_is_said() -> None:
    (block,) = read_blocks(b'TORCH_LIBRARY_FRAGMENT(ours, m) { TO_SOMETHING("f", f); }', {})
    assert block.registrations == () and "TO_SOMETHING" in (block.unread or "")


def test_the_stable_abi_is_told_apart() -> None:
    (one,) = read('STABLE_TORCH_LIBRARY_IMPL(a, Meta, m) { m.impl("f", TORCH_BOX(&f)); }')
    assert one.stable


def test_a_schema_says_where_it_stands() -> None:
    text = b'TORCH_LIBRARY(a, m) {\n  m.def("f(Tensor x, int n) -> Tensor");\n  m.def("g(Tensor x) " "-> Tensor");\n}'
    ((one, other),) = (block.registrations for block in read_blocks(text, {}))
    assert one.schema is not None and text[one.schema_start :].startswith(one.schema.encode())
    assert (other.schema, other.schema_start) == ("g(Tensor x) -> Tensor", -1)


def test_a_macro_becomes_its_body() -> None:
    (macro,) = definitions('#define P(a, ...) f_##a(#a, __VA_ARGS__, "a")').values()
    assert macro.expand(["x", "1", "2"]) == 'f_x("x", 1, 2, "a")'


@pytest.mark.parametrize(
    ("key", "expected"),
    [("", True), ("Meta", True), ("AutogradCUDA", True), ("CatchAll", True), ("CPU", False), (None, False)],
)
def test_which_keys_see_symbols(key: str | None, expected: bool) -> None:
    assert is_for_fakes(key) is expected


PYTHON = """
import torch
from torch.library import Library, impl, register_fake
lib = Library("ours", "FRAGMENT")

@register_fake("ours::one")
def one(x): ...

@torch.library.impl(lib, "two", "Meta")
def two(x): ...

@torch.library.custom_op("ours::three", mutates_args=())
def three(x: torch.Tensor) -> torch.Tensor: ...

lib.impl("four.out", four, "Meta")
lib.impl("five", five, "CUDA")
"""


def project(folder: Path, **files: str) -> Project:
    for name, text in files.items():
        stem, _, suffix = name.rpartition("_")
        (folder / f"{stem}.{suffix}").write_text(text)
    return project_of(read_project(folder, sorted(path for path in folder.rglob("*") if path.is_file())))


def test_a_project_is_read_as_one(tmp_path: Path) -> None:
    found = project(
        tmp_path, macros_h=HEADER, kernels_cpp='DISPATCH_ONE(Meta, "f", ours::f_meta);', fakes_py=PYTHON,
        schemas_cpp='TORCH_LIBRARY(ours, m) { m.def("f(Tensor x) -> Tensor"); }',
    )  # fmt: skip
    assert [one.file for one in found.by_function["f_meta"]] == ["kernels.cpp"]
    assert {one.file for one in found.by_operator["ours::f"]} == {"kernels.cpp", "schemas.cpp"}
    assert found.fakes == {"ours::one", "ours::two", "ours::three", "ours::four"}


def test_a_project_without_registrations_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text("int f();")
    assert read_project(tmp_path, [tmp_path / "a.cpp", tmp_path / "gone.cpp"]) == b""
    assert project_of(b"") == Project()


def wing() -> WingCard:
    return next(card for card in Registry().wings if card.language == "cpp")


KERNEL = """#include <ATen/ATen.h>
namespace ours {
at::Tensor flat(const at::Tensor& x) { return x.view({x.numel()}); }
static at::Tensor hidden(const at::Tensor& x) { return x.view({x.numel()}); }
}
"""


def test_a_kernel_that_another_file_registers_is_found(tmp_path: Path) -> None:
    (tmp_path / "setup.py").touch()
    folder = tmp_path / "csrc"
    folder.mkdir()
    (folder / "kernels.cpp").write_text(KERNEL)
    register = folder / "register.cpp"
    text = 'TORCH_LIBRARY_IMPL(ours, {}, m) {{ m.impl("flat", &ours::flat); m.impl("hidden", &ours::hidden); }}\n'
    register.write_text(text.format("CPU"))
    assert "all clear" in symfix("check", folder, cwd=tmp_path, code=0).stderr
    register.write_text(text.format("Meta") + "// written anew\n")
    found = symfix("check", folder, cwd=tmp_path, code=1).stdout
    assert "kernels.cpp:3" in found and "kernels.cpp:4" not in found


def test_what_no_project_is_asked_for(tmp_path: Path) -> None:
    card = wing()
    (tmp_path / "k.cpp").write_text(KERNEL)
    assert project_facts(tmp_path / "k.cpp", card) == b""
    (tmp_path / "pyproject.toml").touch()
    inside = tmp_path / "build"
    inside.mkdir()
    assert project_digest(inside / "k.cpp", card) == project_digest(tmp_path / "k.cpp", card)
