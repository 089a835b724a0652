"""Tests of schemas outside of torch: an operator's sizes become SymInts in all of its files or in none."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from goldens import installed_torch
from running import git, symfix
from symfix.codemods.engine.multi_file import drop_partial_changes, units
from symfix.codemods.model.edit import Edit
from symfix.codemods.model.outcome import Changed, Unchanged
from symfix.codemods.model.rule import Context, Fix, Safety, Skip
from symfix.codemods.model.source_file import SourceFile
from symfix.cpp.analysis.file.file_analysis import knowledge
from symfix.cpp.analysis.handlers.autograd_apply import applying
from symfix.cpp.analysis.operators.operators import OwnOperator, Unclear, own_operators, project_around
from symfix.cpp.analysis.operators.python_evidence import python_evidence
from symfix.cpp.rewrite.prototypes import prototypes
from symfix.cpp.rewrite.schema_widening import WidenedSchema, widen
from symfix.cpp.rules.widen_schema import rule
from symfix.cpp.syntax.project import project_of, read_project
from symfix.cpp.syntax.tree import tree_of

GOLDEN = Path(__file__).parents[1] / "golden"


def context() -> Context:
    return Context(installed_torch())


def planted(folder: Path, **files: str) -> dict[str, SourceFile]:
    """Write the files of a project and return each as its rules receive it."""
    for name, text in files.items():
        stem, _, suffix = name.rpartition("_")
        (folder / f"{stem}.{suffix}").write_text(text)
    paths = sorted(path for path in folder.iterdir() if path.is_file())
    said = read_project(folder, paths)
    return {path.name: SourceFile(path, path.read_bytes(), project=said) for path in paths}


SCHEMA = 'TORCH_LIBRARY(a, m) { m.def("f(Tensor x, int n) -> Tensor"); }\n'
META = """#include <ATen/ATen.h>
namespace a {
at::Tensor f_meta(const at::Tensor& x, int64_t n) { return at::empty({n}, x.options()); }
}
"""
DECLARED = "namespace a { at::Tensor f_meta(const at::Tensor& x, int64_t n); }\n"
REGISTERED = 'TORCH_LIBRARY_IMPL(a, Meta, m) { m.impl("f", &a::f_meta); }\n'


def fixes(source: SourceFile) -> list[Fix]:
    return [one for one in rule.decide(source, context()) if isinstance(one, Fix)]


def skips(source: SourceFile) -> list[Skip]:
    return [one for one in rule.decide(source, context()) if isinstance(one, Skip)]


def test_the_parts_of_a_change_stand_in_all_of_its_files(tmp_path: Path) -> None:
    files = planted(tmp_path, meta_cpp=META, ours_h=DECLARED, register_cpp='#include "ours.h"\n' + SCHEMA + REGISTERED)
    found = {name: fixes(source) for name, source in files.items()}
    assert {name: len(parts) for name, parts in found.items()} == {"meta.cpp": 1, "ours.h": 1, "register.cpp": 1}
    (part,) = found["ours.h"]
    assert part.files == tuple(str(tmp_path / name) for name in sorted(files))
    assert part.beside(tmp_path / "ours.h") == ["meta.cpp", "register.cpp"]
    assert part.message.endswith("with meta.cpp, register.cpp")


@pytest.mark.parametrize(
    ("more", "word"),
    [
        ("auto g = &a::f_meta;\n", "named-elsewhere"),
        ("namespace b { at::Tensor f_meta(const at::Tensor& x, int64_t n); }\n", "named-elsewhere"),
        ('TORCH_LIBRARY_IMPL(a, Autograd, m) { m.impl("f", &a::nowhere); }\n', "kernel-unknown"),
        ('TORCH_LIBRARY_IMPL(a, Autograd, m) { m.impl("f", [](Tensor x, int64_t n) { return x; }); }\n',
         "kernel-unknown"),
        ('TORCH_LIBRARY_IMPL(a, CPU, m) { m.impl("f", &a::g); }\nnamespace a { Tensor g(Tensor x) { return x; } }\n',
         "kernel-signature"),
    ],
)  # fmt: skip
def test_all_of_it_or_nothing(tmp_path: Path, more: str, word: str) -> None:
    files = planted(tmp_path, meta_cpp=META, register_cpp=DECLARED + SCHEMA + REGISTERED + more)
    assert [fixes(source) for source in files.values()] == [[], []]
    assert [skip.reason for skip in skips(files["register.cpp"])] == [word]


def test_a_call_with_an_integer_may_stay(tmp_path: Path) -> None:
    files = planted(
        tmp_path,
        meta_cpp=META,
        register_cpp=DECLARED + SCHEMA + REGISTERED + "auto g(Tensor x) { return a::f_meta(x, 3); }\n",
    )
    assert [len(fixes(source)) for source in files.values()] == [1, 1]


def test_a_file_that_has_its_part_already_has_no_other(tmp_path: Path) -> None:
    files = planted(tmp_path, meta_cpp=META, register_cpp=DECLARED + SCHEMA + REGISTERED)
    after = files["register.cpp"].content.replace(b"int n)", b"SymInt n)").replace(b"int64_t n)", b"c10::SymInt n)")
    changed = SourceFile(files["register.cpp"].path, after, project=files["register.cpp"].project)
    assert fixes(changed) == []


FAKE = """import torch
@torch.library.register_fake("a::f")
def _(x, n):
    rows = n + 1
    return x.new_empty(rows, 2)
def g(x, k):
    return torch.ops.a.f(x, {argument})
"""


@pytest.mark.parametrize(
    ("argument", "lines"), [("x.shape[0]", 2), ("x.size(1) * 2", 2), ("k", 1), ("3", 1)]
)  # fmt: skip
def test_what_python_says(tmp_path: Path, argument: str, lines: int) -> None:
    files = planted(tmp_path, a_cpp=SCHEMA, ops_py=FAKE.format(argument=argument))
    found = project_of(files["a.cpp"].project)
    assert len(list(python_evidence(found, installed_torch(), "a::f", 1))) == lines
    assert list(python_evidence(found, installed_torch(), "a::f", 0)) == []
    (fix,) = fixes(files["a.cpp"])
    assert "SymInt" in fix.edits[0].text.decode() and fix.files == ()


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ("f(Tensor x, int n -> Tensor", "the parenthesis of the arguments is not closed"),
        ("f_{{ name }}(Tensor x) -> Tensor", "a tag of a template"),
        ("f(Tensor x, what) -> Tensor", "not an argument of a schema: 'what'"),
    ],
)
def test_a_schema_that_does_not_parse_is_said_in_one_line(tmp_path: Path, schema: str, words: str) -> None:
    (source,) = planted(tmp_path, a_cpp=SCHEMA.replace("f(Tensor x, int n) -> Tensor", schema)).values()
    (unclear,) = own_operators(source, project_around(source))
    assert isinstance(unclear, Unclear) and words in unclear.why and "\n" not in unclear.why


def test_an_operator_that_is_defined_twice(tmp_path: Path) -> None:
    files = planted(tmp_path, a_cpp=SCHEMA, b_cpp=SCHEMA)
    assert [skip.detail for skip in skips(files["a.cpp"])] == ["a::f is defined 2 times (a.cpp, b.cpp)"]


def test_a_source_that_is_gone_is_a_kernel_that_is_unknown(tmp_path: Path) -> None:
    files = planted(
        tmp_path, meta_cpp=META, register_cpp=SCHEMA + REGISTERED, fakes_py=FAKE.format(argument="x.shape[0]")
    )
    (tmp_path / "meta.cpp").unlink()
    source = files["register.cpp"]
    (operator,) = own_operators(source, project_around(source))
    assert isinstance(operator, OwnOperator)
    found = widen(operator, source, project_around(source), context())
    assert (
        isinstance(found, WidenedSchema)
        and "a::f_meta of register.cpp is not a function that can be read here" in found.detail
    )


def test_who_applies_an_autograd_function() -> None:
    source = SourceFile(Path("a.cpp"), (GOLDEN / "widen_schema" / "autograd_function.before.cpp").read_bytes())
    know = knowledge(source, context())
    forward = next(one for one in know.model.functions if one.name == "forward")
    calls = [know.model.tree.text(call) for call in applying(_pass(know), forward)]
    assert calls == ["Spread::apply(x, rows, tail, last)"]


def _pass(know: object) -> object:
    from symfix.cpp.analysis.handlers.pass_context import Pass

    return Pass(know, know.model, know.types, {}, {}, {})  # type: ignore[attr-defined, arg-type]


def test_prototypes_are_no_definitions() -> None:
    tree = tree_of(b"namespace a { int f(int n); int f(int n) { return n; } int g(int n); }")
    assert [tree.text(one.node) for one in prototypes(tree, "f")] == ["int f(int n);"]
    assert list(prototypes(tree, "f", ("b",))) == []


def part(path: str, *files: str) -> Changed:
    fix = Fix("r", 4, Safety.UNSAFE, (Edit(0, 1, b"b"),), "m", "op", files=files)
    return Changed(SourceFile(Path(path), b"a"), b"b", (fix,))


def test_a_part_without_the_others_is_taken_back() -> None:
    def turn_down(outcome: Changed, fixes: object) -> Unchanged:
        return Unchanged(outcome.source)

    both = [part("/a", "/a", "/b"), part("/b", "/a", "/b")]
    assert drop_partial_changes(both, turn_down) == both
    assert len(units([(0, both[0].applied[0]), (1, both[1].applied[0])])) == 1
    (left,) = drop_partial_changes(both[:1], turn_down)
    assert isinstance(left, Unchanged)
    assert [skip.detail for skip in left.skips] == ["op: parts of this change stand in b: name these files too"]


@pytest.mark.usefixtures("quick_builds")
@pytest.mark.parametrize(
    ("name", "first", "files"),
    [
        ("warp", "case tests/test_warps.py::test_rows_may_be_a_size[", {"csrc/warps.cpp"}),
        (
            "pads",
            "case tests/test_pads.py::test_the_length_may_be_a_size",
            {"csrc/kernels.cpp", "csrc/pads.h", "csrc/register.cpp"},
        ),
    ],
)  # fmt: skip
def test_an_extension_goes_from_pinned_to_symbolic(tmp_path: Path, name: str, first: str, files: set[str]) -> None:
    folder = tmp_path / name
    shutil.copytree(GOLDEN / "schemas" / name, folder)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "as it was")
    before = {path: path.read_bytes() for path in folder.rglob("*.*") if path.is_file() and ".git" not in path.parts}
    words = ("fix", "--verify", "--unsafe-fixes", "--select", "widen_schema", "--config", "pyproject.toml", ".")
    ended = symfix(*words, cwd=folder, code=0)
    assert f"\nproven: {first}" in f"\n{ended.stderr}"
    changed = {path.relative_to(folder).as_posix() for path, content in before.items() if path.read_bytes() != content}
    assert changed == files
    assert b"int n" not in b"".join(path.read_bytes() for path in folder.rglob("*.cpp"))
