"""Tests of finding the operators whose tests run a changed function."""

from __future__ import annotations

from pathlib import Path

from symfix.codemods.verify.build.changed_kernels import functions_reaching
from symfix.codemods.verify.change import SWAPPED, Change, KernelSwap
from symfix.codemods.verify.choose.changed_functions import changed_functions, operators_named
from symfix.codemods.verify.choose.function_index import TraceIndex
from symfix.codemods.verify.choose.test_selection import choose_cpp, choose_python, running_change

BEFORE = b"""
LIMIT = 3

def untouched(x):
    return x

def _check(x):
    if x.shape[0] == 0:
        raise ValueError

@register_meta([aten.cummax.default, aten.cummin.default])
def cum(x):
    _check(x)

@register_decomposition(aten.addmv)
def other(x):
    def inside(y):
        return y + 1
    return inside(untouched(x))

class Pool:
    def forward(self, x):
        return inner(x, LIMIT)

if True:
    def inner(x, limit):
        return x.numel() == 0
"""


def changed(old: bytes, new: bytes) -> list[str]:
    assert old in BEFORE
    return [function.qualname for function in changed_functions(BEFORE, BEFORE.replace(old, new))]


def test_the_innermost_function_has_changed() -> None:
    assert changed(b"x.shape[0] == 0", b"guard_or_false(x.shape[0] == 0)") == ["_check"]
    assert changed(b"y + 1", b"y + 2") == ["other.inside"]
    assert changed(b"inside(untouched(x))", b"inside(x)") == ["other"]
    assert changed(b"x.numel() == 0", b"x.numel() < 1") == ["inner"]
    assert changed(b"inner(x, LIMIT)", b"inner(x, 1)") == ["Pool.forward"]


def test_comments_and_imports_change_no_function() -> None:
    assert changed(b"raise ValueError", b"raise ValueError  # why") == []
    assert changed(b"LIMIT = 3", b"import operator\nLIMIT = 3") == []


def test_a_rebound_name_changes_those_that_mention_it() -> None:
    assert changed(b"LIMIT = 3", b"LIMIT = 4") == ["Pool.forward"]


def test_a_function_that_is_gone_and_a_new_helper() -> None:
    assert changed(b"def untouched(x):\n    return x\n", b"") == ["untouched"]
    after = BEFORE.replace(b"    _check(x)", b"    helper(x)") + b"\ndef helper(x):\n    _check(x)\n"
    assert [function.qualname for function in changed_functions(BEFORE, after)] == ["cum"]


def test_the_line_is_the_first_decorators() -> None:
    (function,) = changed_functions(BEFORE, BEFORE.replace(b"    _check(x)", b"    pass"))
    assert BEFORE.splitlines()[function.line - 1].startswith(b"@register_meta")


def test_a_helper_serves_what_its_callers_are_registered_for() -> None:
    (function,) = changed_functions(BEFORE, BEFORE.replace(b"x.shape[0] == 0", b"x.shape[0] < 1"))
    assert operators_named(function, BEFORE) == {"_check", "check", "cum", "cummax", "cummin"}


def chosen(tmp_path: Path, functions: dict[str, tuple[int, ...]], old: bytes, new: bytes) -> tuple[object, ...]:
    package = tmp_path / "torch"
    package.mkdir()
    module = package / "_mine.py"
    module.write_bytes(BEFORE)
    operators = ("addmm", "cummin", "mul", "sub")
    index = TraceIndex(operators, {"torch/_mine.py": functions}, {"addmm": 9, "cummin": 8, "mul": 7, "sub": 1})
    choice = choose_python({"torch._mine": Change(module, BEFORE, BEFORE.replace(old, new))}, index, package)
    return choice.operators, choice.unreached, choice.reason


def test_its_own_test_comes_first_then_those_that_run_least_else(tmp_path: Path) -> None:
    operators, unreached, reason = chosen(tmp_path, {"_check:7": (0, 1, 2)}, b"x.shape[0] == 0", b"x.shape[0] < 1")
    assert operators == ("cummin", "mul", "addmm")
    assert unreached == ()
    assert reason == "_check: cummin, mul, addmm"


def test_what_the_index_never_saw_is_looked_for_by_name(tmp_path: Path) -> None:
    operators, unreached, reason = chosen(tmp_path, {}, b"_check(x)\n\n@", b"pass\n\n@")
    assert (operators, unreached) == (("cummin",), ())
    assert reason == "cum: cummin by name"


def test_what_nothing_runs_is_said(tmp_path: Path) -> None:
    operators, unreached, reason = chosen(tmp_path, {"_check:7": (0,)}, b"inner(x, LIMIT)", b"inner(x, 1)")
    assert (operators, unreached) == ((), ("Pool.forward",))
    assert reason == "no test reaches Pool.forward"


CPP = b"""
#include <ATen/core/Tensor.h>
#define TWICE(x) ((x) * 2)
namespace at::native {
namespace {
int64_t length(const Tensor& self) {
  return self.size(0); // a { brace
}
} // namespace
constexpr int kLimit = 3;
TORCH_IMPL_FUNC(structured)(const Tensor& self) {
  length(self);
}
Tensor one(const Tensor& self) {
  if (self.dim() == 1) { return self; }
  return self.narrow(0, 0, length(self));
}
Tensor two(const Tensor& self) {
  return self.neg();
}
} // namespace at::native
"""
SWAPS = [KernelSwap(name, name, "CompositeImplicitAutograd", SWAPPED) for name in ("one", "two")]


def kernels(old: bytes, new: bytes) -> list[str]:
    assert old in CPP
    return [swap.kernel for swap in running_change([Change(Path("F.cpp"), CPP, CPP.replace(old, new))], SWAPS)]


def test_the_kernels_that_run_a_changed_cpp_function() -> None:
    assert functions_reaching(CPP, CPP.replace(b"size(0)", b"sym_size(0)")) == {"length", "structured", "one"}
    assert kernels(b"size(0)", b"sym_size(0)") == ["one"]
    assert kernels(b"neg()", b"abs()") == ["two"]
    assert kernels(b"length(self);\n}\nTensor", b"length(self) + 1;\n}\nTensor") == []


def test_outside_functions_anything_may_be_reached() -> None:
    assert functions_reaching(CPP, CPP.replace(b"kLimit = 3", b"kLimit = 4")) is None
    assert functions_reaching(CPP, CPP.replace(b"* 2", b"* 3")) is None
    assert kernels(b"* 2", b"* 3") == ["one", "two"]


def test_comments_layout_and_includes_reach_nothing() -> None:
    assert functions_reaching(CPP, CPP.replace(b"// a { brace", b"// another")) == frozenset()
    assert functions_reaching(CPP, CPP.replace(b"#include", b"#include <vector>\n#include")) == frozenset()


def test_a_change_that_no_swapped_kernel_runs_chooses_nothing() -> None:
    after = CPP.replace(b"  length(self);\n}", b"  self.dim();\n}")
    choice = choose_cpp([Change(Path("F.cpp"), CPP, after)], SWAPS, {"one": ["one"]})
    assert choice.operators == ()
    assert choice.reason == "no kernel that can be swapped in runs what changed"
