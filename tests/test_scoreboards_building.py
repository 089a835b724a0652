"""Tests of the build rate: changed definitions, kernels among them, and places of compiler errors."""

from __future__ import annotations

from pathlib import Path

import pytest
from scoreboards.building import broken, changed_definitions, damaged_kernels, promoted_sites
from scoreboards.compiling import Complaint, first_error
from scoreboards.corpus import remembered, source_tree
from scoreboards.dispatch import kernel_keys, only_real
from scoreboards.table import table
from symfix.codemods.model.edit import Edit
from symfix.codemods.model.outcome import Changed
from symfix.codemods.model.rule import Fix, Safety
from symfix.codemods.model.source_file import SourceFile

F = Path("F.cpp")
BEFORE = b"""namespace at::native {
Tensor crop(const Tensor& x) { return x.narrow(0, 0, x.size(0)); }
Tensor crop(const Tensor& x, int64_t n) { return x.narrow(0, 0, n); }
Tensor crop_cpu(const Tensor& x) { return x.size(0) ? x : x; }
TORCH_IMPL_FUNC(crop_out)(const Tensor& x, const Tensor& out) { out.copy_(x); }
}
"""
YAML = """
- func: crop(Tensor self) -> Tensor
- func: crop.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
- func: trim(Tensor self) -> Tensor
  dispatch:
    CPU, CUDA: crop_cpu
    Meta: trim_meta
- func: shave(Tensor self) -> Tensor
  structured_delegate: shave.out
- func: pare(Tensor self) -> Tensor
  dispatch:
    CPU: pare_any
    CompositeExplicitAutograd: pare_any
"""


def names(after: bytes) -> list[tuple[str, int]]:
    return [(one.name, one.ordinal) for one in changed_definitions(F, BEFORE, after)]


def test_a_definition_is_found_again_whatever_happens_to_its_signature_and_to_its_neighbours() -> None:
    assert names(BEFORE) == []
    assert names(b"// one line more\n" + BEFORE.replace(b"int64_t n", b"c10::SymInt n")) == [("crop", 1)]
    assert names(BEFORE.replace(b"crop(const Tensor& x) {", b"crop_symint(const Tensor& x) {")) == [("crop", 0)]


def test_a_definition_that_is_gone_has_changed() -> None:
    assert names(BEFORE.replace(b"crop_cpu", b"crop_device")) == [("crop_cpu", 0)]


@pytest.fixture
def keys(tmp_path: Path) -> dict[str, frozenset[str]]:
    (tmp_path / "native_functions.yaml").write_text(YAML)
    return kernel_keys(tmp_path / "native_functions.yaml")


def test_keys_come_from_the_dispatch_section_or_are_composite(keys: dict[str, frozenset[str]]) -> None:
    assert keys["crop"] == keys["crop_out"] == {"CompositeImplicitAutograd"}
    assert keys["crop_cpu"] == {"CPU", "CUDA"}
    assert "shave" not in keys
    assert [name for name in keys if only_real(keys[name])] == ["crop_cpu"]


def test_a_changed_kernel_and_a_changed_structured_kernel_are_damage(keys: dict[str, frozenset[str]]) -> None:
    after = BEFORE.replace(b"size(", b"sym_size(").replace(b"copy_", b"set_")
    changed = changed_definitions(F, BEFORE, after)
    assert [one.name for one in changed] == ["crop", "crop_cpu", "crop_out"]
    assert [one.name for one in damaged_kernels(changed, [{}, keys])] == ["crop_cpu", "crop_out"]


def test_only_promoted_calls_are_counted_as_sites() -> None:
    text = b"int64_t n = x.size(0); f(n);"
    edits = (Edit(0, 7, b"c10::SymInt"), Edit(14, 18, b"sym_size"))
    fix = Fix("use_sym_sizes", 1, Safety.SAFE, edits, "")
    assert promoted_sites(Changed(SourceFile(F, text), b"", (fix,))) == 1


def test_the_first_error_is_placed_in_the_file_itself() -> None:
    own = "F.cpp: In function 'f':\nF.cpp:3:7: error: no match for 'operator='\nF.cpp:9:1: error: later\n"
    header = (
        "In file included from F.cpp:12:\n/t/ATen/x.h:5:1: error: no type named 'y'\n"
        "F.cpp:4:2: error: something that follows\n"
    )
    assert first_error(own, "F.cpp") == Complaint(3, "no match for 'operator='")
    assert first_error(header, "F.cpp") == Complaint(12, "no type named 'y'")
    assert first_error("cc1plus: out of memory\n", "F.cpp") == Complaint(0, "cc1plus: out of memory")


def test_a_complaint_names_the_function_and_shows_the_line() -> None:
    one = broken(F, BEFORE, Complaint(4, "oh"))
    assert (one.function, one.source_line) == ("crop_cpu", BEFORE.splitlines()[3].decode())
    assert broken(F, BEFORE, Complaint(0, "oh")).source_line == ""


def test_an_answer_is_computed_once_for_each_question(fresh_cache: Path) -> None:
    asked: list[str] = []

    def answer(what: str) -> str:
        return remembered("kind", [what, b"same"], lambda: asked.append(what) or what.upper())

    assert [answer("a"), answer("b"), answer("a")] == ["A", "B", "A"]
    assert asked == ["a", "b"]
    assert remembered("kind", ["as", b"ame"], lambda: "other") == "other"


def test_a_folder_that_is_no_tree_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        source_tree("2.6.0", tmp_path)
    assert stopped.value.code == 2
    assert str(tmp_path) in capsys.readouterr().err


def test_numbers_stand_to_the_right() -> None:
    assert table([("a", 1, "x"), ("bcd", 22, "")], indent=" ") == " a     1  x\n bcd  22"
