"""Tests of deferred checks: conditions, symbols, expressions and lines, on a few lines each."""

from __future__ import annotations

import ast
from pathlib import Path

import libcst as cst
import pytest
from goldens import installed_torch
from snippets import asked, context, function
from symfix.codemods.model.edit import Edit, apply
from symfix.codemods.model.rule import Context, Fix
from symfix.python.analysis.must.must_type_inference import surely
from symfix.python.analysis.types.cannot_rewrite import CannotRewrite
from symfix.python.analysis.types.library import SHAPES
from symfix.python.candidates.alternatives import alternatives, extent
from symfix.python.rewrite.change_types import Chosen
from symfix.python.rewrite.deferrable_condition import deferred
from symfix.python.rewrite.edits import edited
from symfix.python.rewrite.expressions import call, comparison, in_full, ungrouped
from symfix.python.rewrite.formatter import wrap_long_lines
from symfix.python.rewrite.lines import broken, code, comments
from symfix.python.rewrite.qualified_names import spell, spelled_out, unnamed
from symfix.python.rewrite.raised_checks import check_for
from symfix.python.rewrite.sym_and_or import Joiner


def test_check_for_doubts_an_annotated_number() -> None:
    made = function("if x.size(0) != k:\n    raise ValueError('bad')\nreturn x", "x: Tensor, k: int", "model.py")
    (branch,) = made.nodes.ifs
    written = check_for("r", made.place(branch), branch, context())
    assert isinstance(written, Fix) and written.default is not None and "x.size(0) != k" in written.default
    (edit,) = written.edits
    assert edit.text.decode().splitlines()[:3] == [
        "if not torch.jit.is_scripting() and torch.compiler.is_compiling():",
        "        torch._check_value(x.size(0) == k)",
        "    elif x.size(0) != k:",
    ]


@pytest.mark.parametrize(
    ("condition", "truth", "written"),
    [
        ("x.numel()", True, "x.numel() != 0"),
        ("x.numel()", False, "x.numel() == 0"),
        ("1 <= x.shape[0] < k", False, "sym_or(1 > x.shape[0], x.shape[0] >= k)"),
        ("2 <= x.dim() < 4", False, "not (2 <= x.dim() < 4)"),
        ("x.shape[0] in (1, 2)", False, "sym_and(x.shape[0] != 1, x.shape[0] != 2)"),
        ("all(d == 1 for d in x.shape)", False, "sym_or(False, *(d != 1 for d in x.shape))"),
        ("x.shape != y.shape", False, "sym_eq(x.shape, y.shape)"),
        ("x.size(0) / 2 < 1.5", False, "torch.sym_not(x.size(0) / 2 < 1.5)"),
        ("not (x.size(0) == 1 or y.size(0) == 2)", True, "sym_and(x.size(0) != 1, y.size(0) != 2)"),
        ("torch.sym_not(x.size(0) == 1)", False, "torch.sym_not(torch.sym_not(x.size(0) == 1))"),
        ("isinstance(n, int)", True, "isinstance(n, int)"),
        ("x.size(0) in y.shape", True, CannotRewrite("membership", "")),
        ("x.tolist()[0]", True, CannotRewrite("may-be-none", "")),
        ("0 < x.size(0) < 2 < 3 < x.size(1) / 2.0", False, CannotRewrite("chained-comparison", "")),
        ("all(int(d) for d in x.shape)", False, CannotRewrite("decided-inside", "")),
        ("n", True, CannotRewrite("not-a-bool", "")),
        ("n.sum() == 3", True, CannotRewrite("not-a-bool", "")),
    ],
)
def test_a_condition_that_decides_no_size(condition: str, truth: bool, written: str | CannotRewrite) -> None:
    known, node = asked(condition)
    if isinstance(written, CannotRewrite):
        with pytest.raises(CannotRewrite) as unfit:
            deferred(surely(known.module), context(), node, node, truth)
        assert unfit.value.reason == written.reason
        return
    changes = deferred(surely(known.module), context(), node, node, truth).changes
    edit = edited(known.module, node, changes)
    before = known.module.text(node).decode()
    start = known.module.place(node).span[0]
    assert apply(before.encode(), [Edit(edit.start - start, edit.end - start, edit.text)]).decode() == written


def test_a_check_looks_for_a_size_one_by_one() -> None:
    made = function("torch._check(x.shape[0] in (1, 2))")
    joiner = Joiner(surely(made), context())
    joiner.join(made.nodes.calls[0].args[0])
    assert [change for _, change in joiner.changes] == [Chosen(True, "sym_or")]
    assert joiner.needs == [f"{SHAPES}.sym_or"]


@pytest.mark.parametrize(
    ("body", "line", "first"),
    [
        ("assert x.size(0) == k, 'bad'", "assert", "torch._check_with(AssertionError, x.size(0) == k, lambda: 'bad')"),
        ("if x.shape == y.shape:\n    return y", "if", "guard_or_false(sym_eq(x.shape, y.shape))"),
        ("if not x.is_contiguous():\n    x = y", "if", "is_contiguous_or_false(x)"),
        (
            "if not x.is_contiguous(memory_format=torch.contiguous_format):\n    x = y",
            "if",
            "is_contiguous_or_false(x)",
        ),
        ("z = k if x.size(0) == 1 else n", "z =", "torch.sym_ite(x.size(0) == 1, k, n)"),
        ("z = k if x.size(0) == 1 else n / 2", "z =", "guard_or_false(x.size(0) == 1)"),
    ],
)
def test_what_is_tried_at_a_line(body: str, line: str, first: str) -> None:
    made = function(f"{body}\nreturn x")
    number = made.source.content.decode().split(f"    {line}")[0].count("\n") + 1
    where = extent(made.source, number, "f")
    assert where is not None
    tried = [edit.text.decode() for fix in alternatives(made.source, context(), where) for edit in fix.edits]
    assert tried[0] == first


def test_a_symbol_that_an_old_torch_lacks() -> None:
    made = function("return x", path="model.py")
    here, symbol = made.nodes.returns[0], f"{SHAPES}.guard_or_false"
    old = Context(installed_torch(), min_torch=(2, 1))
    found = spell(made, here, symbol, old)
    assert found is not None and found.needs == (symbol,)
    assert spell(made, here, "torch.sym_ite", Context(installed_torch(), min_torch=(1, 13))) is None


def test_a_symbol_that_the_function_imports_further_down() -> None:
    made = function(f"z = x\nfrom {SHAPES} import sym_eq\nreturn z")
    found = spell(made, made.nodes.assigns[0], f"{SHAPES}.sym_eq", context())
    assert found is not None and found.needs == (f"{SHAPES}.sym_eq",)
    taken = function("z = x\nsym_eq = 1\nreturn z")
    assert spell(taken, taken.nodes.assigns[0], f"{SHAPES}.sym_eq", context()) is None


def test_a_symbol_is_written_as_the_file_names_it() -> None:
    made = function("return x")
    here = made.nodes.returns[0]
    assert spelled_out(made, here, "torch.sym_min", context()).text == "torch.sym_min"


def test_why_a_symbol_can_not_be_written() -> None:
    made = function("return x")
    assert unnamed(made, made.nodes.returns[0], "torch.sym_nothing", context()) == (
        "no-such-name", "the target torch has no `torch.sym_nothing`"
    )  # fmt: skip
    taken = function("z = x\nsym_eq = 1\nreturn z")
    here = taken.nodes.assigns[0]
    assert unnamed(taken, here, f"{SHAPES}.sym_eq", context())[0] == "name-shadowed"
    with pytest.raises(CannotRewrite) as error:
        spelled_out(taken, here, f"{SHAPES}.sym_eq", context())
    assert error.value.reason == "name-shadowed"


def test_expressions_get_the_parentheses_that_they_need() -> None:
    choice, yielded = cst.parse_expression("a if b else c"), cst.parse_expression("(yield a)")
    assert code(call("m.f", [cst.Arg(choice), cst.Arg(yielded)])) == "m.f(a if b else c, (yield a))"
    assert code(comparison(choice, cst.Equal(), cst.parse_expression("((a + b))"))) == "(a if b else c) == a + b"
    assert code(ungrouped(cst.parse_expression("((a, b))"))) == "(a, b)"
    statement = cst.parse_statement("n *= a + b")
    assert isinstance(statement, cst.SimpleStatementLine)
    (augmented,) = statement.body
    assert isinstance(augmented, cst.AugAssign) and code(in_full(augmented)) == "n * (a + b)"


def test_comments_and_the_ends_of_lines() -> None:
    tree = cst.parse_expression("(a  # one\n + b  # two\n)")
    assert comments(tree) == ["# one", "# two"] and not comments(cst.parse_expression("'# none'"))
    assert isinstance(tree, cst.BinaryOperation)
    around = tree.operator.whitespace_before, tree.operator.whitespace_after
    assert broken(*around) and broken(around[0]) and not broken(around[1])


def test_lines_are_laid_out_where_ruff_is_configured(tmp_path: Path) -> None:
    before, after = b"f(a, b)\n", b"f(" + b"a, " * 20 + b"b)\n"
    assert wrap_long_lines(tmp_path / "a.py", before, after) == after
    (tmp_path / "ruff.toml").write_text("line-length = 30\n")
    laid_out = wrap_long_lines(tmp_path / "a.py", before, after)
    assert max(map(len, laid_out.splitlines())) <= 30 and ast.dump(ast.parse(laid_out)) == ast.dump(ast.parse(after))
    assert wrap_long_lines(tmp_path / "a.py", after, after) == after
