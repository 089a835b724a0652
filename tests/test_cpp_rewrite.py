"""Tests of the C++ wing's rewriting: edits of promotions, messages of fixes, includes, comparisons as methods."""

from __future__ import annotations

from pathlib import Path

import pytest
from cpp_facts import HEAD, known, place
from goldens import installed_torch
from symfix.codemods.model.edit import Edit, apply
from symfix.codemods.model.rule import Context, Fix, Safety
from symfix.codemods.model.source_file import SourceFile
from symfix.cpp.analysis.file.comparisons import comparison
from symfix.cpp.analysis.file.sources import seeds
from symfix.cpp.analysis.graph.graph import Refusal
from symfix.cpp.analysis.graph.reasons import SkipReason
from symfix.cpp.analysis.propagation.promotions import Analysis, analyse
from symfix.cpp.rewrite.alternatives import alternatives, extent, internal_callees
from symfix.cpp.rewrite.changes import changes
from symfix.cpp.rewrite.emit import emit, fix
from symfix.cpp.rewrite.formatter import wrap_long_lines
from symfix.cpp.rewrite.includes import includes
from symfix.cpp.rewrite.skip_reasons import skip
from symfix.cpp.rewrite.sym_bool import as_method

CONTEXT = Context(installed_torch(), None, True)


def analysed(body: str) -> tuple[Analysis, SourceFile]:
    source = SourceFile(Path("shapes.cpp"), f"{HEAD}Tensor f(const Tensor& t, int64_t k) {{ {body} }}".encode())
    return analyse(source, CONTEXT), source


@pytest.mark.parametrize(
    ("body", "after"),
    [
        ("return t.view({t.size(0)});", "return t.view_symint({t.sym_size(0)});"),
        ("auto n = 0; n = t.size(0); return t.view({n});",
         "c10::SymInt n = 0; n = t.sym_size(0); return t.view_symint({n});"),
        ("return t.view({std::max(k, t.size(0))});", "return t.view_symint({t.sym_size(0).max(k)});"),
        ("return t.view({std::max(t.size(0), std::min(k, t.size(1) + 1))});",
         "return t.view_symint({t.sym_size(0).max((t.sym_size(1) + 1).min(k))});"),
        ("return t.view({k > 1 ? t.size(0) : 1});", "return t.view_symint({k > 1 ? t.sym_size(0) : c10::SymInt(1)});"),
    ],
)  # fmt: skip
def test_a_promotion_as_edits(body: str, after: str) -> None:
    analysis, source = analysed(body)
    (promotion,) = analysis.promotions
    edits = emit(promotion, source.content)
    assert list(edits) == sorted(edits)
    assert apply(source.content, edits).decode() == source.content.decode().replace(body, after)


def test_the_fix_says_what_changes_with_the_seeds_and_what_it_needs() -> None:
    analysis, _ = analysed("SmallBuffer<int64_t, 5> s(t.dim()); s[0] = t.size(0); return t.view(s);")
    found = fix("use_sym_sizes", 1, "size() to sym_size()", analysis.promotions[0], analysis.know.model.tree)
    assert found.message == "size() to sym_size(), with s, view_symint"
    assert (found.function, found.safety, found.needs) == ("f", Safety.SAFE, ("c10/util/DimVector.h",))
    analysis, _ = analysed("int n = t.size(0); return t.view({n});")
    found = fix("use_sym_sizes", 1, "one", analysis.promotions[0], analysis.know.model.tree, function="g")
    assert (found.function, found.safety) == ("g", Safety.UNSAFE)
    assert found.default == "a size of 2**31 or more, which `int` cut off, is kept whole"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("TORCH_CHECK(«n» == k, 1);", None),
        ("TORCH_CHECK(«n» == k);", "the message of `TORCH_CHECK` holds its condition, which is spelled otherwise"),
        ("TORCH_CHECK_EQ(«n», k);", "the message of `TORCH_CHECK_EQ` holds its condition, which is spelled otherwise"),
        ("TORCH_INTERNAL_ASSERT(ok, «n»);", None),
    ],
)
def test_what_a_change_does_to_messages(text: str, words: str | None) -> None:
    p, node = place(text)
    assert changes([Edit(node.start_byte, node.end_byte, b"m")], p.model.tree) == words


@pytest.mark.parametrize(
    ("reason", "mode"), [(SkipReason.TENSOR_ITERATOR, 3), (SkipReason.LOOP_BOUND, 4), (SkipReason.UNKNOWN_CALLEE, 1)]
)
def test_a_seed_that_stays_is_told_with_its_place(reason: SkipReason, mode: int) -> None:
    text = f"{HEAD}void f(const Tensor& t) {{ use(t.size(0)); }}"
    (seed,), _, _ = seeds(known(text), signatures=False)
    place = text.index("use(")
    found = skip(
        "rule", SourceFile(Path("f.cpp"), text.encode()), seed, Refusal(place, len(text) - 3, reason, "because")
    )
    assert (found.reason, found.mode, found.function) == (reason.value, mode, "f")
    assert (found.start, found.detail) == (text.index("t.size"), "because: use(t.size(0))")


def test_a_header_goes_to_the_includes_nearest_to_it() -> None:
    text = b"#include <ATen/ATen.h>\n#include <c10/util/Optional.h>\n\nvoid f();\n"
    wants = Fix("rule", 1, Safety.SAFE, (), "", needs=("c10/util/DimVector.h", "ATen/ATen.h"))
    (edit,) = includes(SourceFile(Path("f.cpp"), text), [wants], CONTEXT)
    assert (edit.start, edit.text) == (text.index(b"#include <c10"), b"#include <c10/util/DimVector.h>\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("t.sym_size(0) == k", "t.sym_size(0).sym_eq(k)"),
        ("k < t.sym_size(0)", "t.sym_size(0).sym_gt(k)"),
        ("t.sym_size(0) + 1 >= k", "(t.sym_size(0) + 1).sym_ge(k)"),
    ],
)
def test_a_comparison_as_a_method(before: str, after: str) -> None:
    p, node = place(f"use(«{before}»);")
    found = comparison(p.types, node)
    assert found is not None
    content = p.model.tree.content
    for around in (("", ""), ("TORCH_GUARD_OR_FALSE(", ")")):
        wanted = content.replace(before.encode(), f"{around[0]}{after}{around[1]}".encode())
        assert apply(content, as_method(p.types, found, around)) == wanted


def test_a_line_that_became_too_long_is_wrapped_and_no_other(tmp_path: Path) -> None:
    (tmp_path / ".clang-format").write_text("BasedOnStyle: Google\nColumnLimit: 40\n")
    before = b"void f() {\n  int   untouched;\n  use(one, two, three);\n}\n"
    after = before.replace(b"two", b"twenty_two, twenty_three")
    wrapped = wrap_long_lines(tmp_path / "f.cpp", before, after)
    assert max(map(len, wrapped.splitlines())) <= 40 < max(map(len, after.splitlines()))
    assert b"  int   untouched;\n" in wrapped
    assert wrap_long_lines(Path("/f.cpp"), before, after) == after


def test_what_could_be_tried_where_no_rule_dares() -> None:
    text = f"{HEAD}Tensor f(const Tensor& t, int64_t k) {{ if (t.sym_size(0) == k) {{ return t; }} return t.neg(); }}"
    source = SourceFile(Path("shapes.cpp"), text.encode())
    where = extent(source, 1, "at::f(at::Tensor const&, long)")
    assert where == (text.index("Tensor f"), len(text))
    (found,) = alternatives(source, CONTEXT, where)
    assert b"TORCH_GUARD_OR_FALSE(t.sym_size(0).sym_eq(k))" in apply(source.content, found.edits)
    assert extent(source, 1, "f(...)") == extent(source, 1, "at::native::f") == where
    assert extent(source, 1, "g()") is None


def test_functions_with_internal_linkage_are_callees_that_no_stack_names() -> None:
    text = f"""{HEAD}
static Tensor last(const Tensor& t) {{ return t.neg(); }}
static Tensor twice(const Tensor& t) {{ return t; }}
static Tensor twice(const Tensor& t, int64_t k) {{ return t; }}
namespace {{
Tensor first(const Tensor& t) {{ return last(t); }}
}}
Tensor exported(const Tensor& t) {{ return t; }}
Tensor f(const Tensor& t) {{ return at::native::exported(twice(first(t))); }}
"""
    source = SourceFile(Path("shapes.cpp"), text.encode())
    assert internal_callees(source, "at::native::f(at::Tensor const&)") == ["first", "last"]
    assert internal_callees(source, "at::native::exported") == internal_callees(source, "unknown") == []
