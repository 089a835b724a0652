"""Tests of replaced expressions and statements. LibCST writes them and keeps every blank and comment."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import libcst as cst
import pytest
from running import SHAPES
from symfix.codemods.model.edit import apply
from symfix.codemods.model.rule import Context, Fix, Skip
from symfix.codemods.model.source_file import SourceFile
from symfix.codemods.torchapi import TorchApi
from symfix.python.analysis.types.cannot_rewrite import CannotRewrite
from symfix.python.rewrite import change_types as to
from symfix.python.rewrite.applied_changes import Fragment
from symfix.python.rewrite.change_types import Change
from symfix.python.rewrite.edits import checked, chosen_value, edited, limited, renamed_definition
from symfix.python.rewrite.findings import change
from symfix.python.rewrite.lines import code, indented
from symfix.python.rewrite.qualified_names import renamed, spell
from symfix.python.rewrite.statements import Statement, check, check_edit
from symfix.python.rewrite.unused_imports import unused_imports
from symfix.python.syntax.module import Module


def module(text: str) -> Module:
    return Module(SourceFile(Path("torch/_refs/a.py"), text.encode()))


def expression(text: str) -> tuple[Module, ast.expr]:
    """Return a module that consists of one expression, and the expression."""
    made = module(text)
    (statement,) = made.tree.body
    assert isinstance(statement, ast.Expr)
    return made, statement.value


def only(made: Module, kind: type[ast.AST]) -> ast.AST:
    (node,) = made.nodes.every(kind)
    return node


@pytest.mark.parametrize(
    ("text", "changes", "expected"),
    [
        ("a == b", [to.Called("f")], "f(a == b)"),
        ("(\n  a == b  # why\n)", [to.Called("f")], "(\n  f(a == b)  # why\n)"),
        ("(\n  a == b\n)", [to.Called("f")], "f(\n  a == b\n)"),
        ("((a, b))", [to.Called("f")], "f((a, b))"),
        ("f(a or b)", [to.Uncalled()], "a or b"),
        ("f( a )", [to.Uncalled(grouped=True)], "( a )"),
        ("a.b.c", [to.Attributed("d")], "a.b.d"),
        ("f", [to.Named("g.h")], "g.h"),
        ("a if b else c", [to.Compared("!=")], "(a if b else c) != 0"),
        ("a < b", [to.Plain.REVERSED], "a >= b"),
        ("a not in b", [to.Plain.REVERSED], "a in b"),
        ("(a == b) != c", [to.Plain.REVERSED], "(a == b) == c"),
        ("not a", [to.Plain.AFFIRMED], "a"),
        ("a or b", [to.Plain.NEGATED], "not (a or b)"),
        ("a == b", [to.Equated("f")], "f(a, b)"),
        ("(a\n == b)", [to.Equated("f")], "f(a,\n b)"),
        ("a // (b)", [to.Combined("f")], "f(a, b)"),
        ("(a\n + b)", [to.Combined("f")], "f(a,\n b)"),
        ("(a ==\n b)", [to.Equated("f"), to.Called("g"), to.Plain.NEGATED], "not g(f(a,\n b))"),
        ("a < b <= c", [to.Apart("f")], "f(a < b, b <= c)"),
        ("a < b <= c", [to.Apart("f", opposite=True)], "f(a >= b, b > c)"),
        ("a in (0, 1)", [to.Chosen(True, "f")], "f(a == 0, a == 1)"),
        ("a not in [0]", [to.Chosen(False, "f")], "a != 0"),
        ("a in {0, 1}", [to.Chosen(True, each="g")], "g(a == 0) or g(a == 1)"),
        ("a and (b) and c", [to.Joined(True, 3, 1, "f")], "a and f(b, c)"),
        ("(a\n and b\n)", [to.Joined(True, 2, 0, "f")], "f(a,\n b,\n)"),
        ("all(a for a in b)", [to.Quantified("f", "True")], "f(True, *(a for a in b))"),
        ("any([a for a in b])", [to.Quantified("f", "False")], "f(False, *[a for a in b])"),
        ("x.f()", [to.Received("g")], "g(x)"),
        ("a if b else c", [to.Selected("f")], "f(b, a, c)"),
        ("f((a - 1) / b)", [to.Divided(up=True)], "((a - 1) + b - 1) // b"),
        ("g(f(a / 2))", [to.Divided(up=False), to.Plain.GROUPED], "(a // 2)"),
    ],
)
def test_what_becomes_of_an_expression(text: str, changes: list[Change], expected: str) -> None:
    made, node = expression(text)
    edit = edited(made, node, [(node, one) for one in changes])
    assert apply(made.source.content, [edit]).decode() == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = -(a == b)", "x = -f(a == b)"),
        ("x = not(a == b)", "x = not f(a == b)"),
        ("if(a == b):pass", "if f(a == b):pass"),
        ("x = 1 if(a == b)else 2", "x = 1 if f(a == b)else 2"),
    ],
)
def test_words_do_not_run_into_one_another(text: str, expected: str) -> None:
    made = module(text)
    node = only(made, ast.Compare)
    assert isinstance(node, ast.Compare)
    assert apply(made.source.content, [edited(made, node, [(node, to.Called("f"))])]).decode() == expected


def test_what_is_written_binds_as_tightly_as_what_it_replaces() -> None:
    made = module("x = c and a in (0, 1) and -b")
    node = only(made, ast.Compare)
    assert isinstance(node, ast.Compare)
    edit = edited(made, node, [(node, to.Chosen(True, each="g"))])
    assert apply(made.source.content, [edit]) == b"x = c and (g(a == 0) or g(a == 1)) and -b"


def test_lines_that_lose_their_brackets_get_others() -> None:
    made = module("x = not (a or\n b)\n")
    node = only(made, ast.UnaryOp)
    inner = only(made, ast.BoolOp)
    assert isinstance(node, ast.UnaryOp) and isinstance(inner, ast.BoolOp)
    changes: list[tuple[ast.expr, Change]] = [(inner, to.Plain.UNGROUPED), (node, to.Plain.AFFIRMED)]
    assert apply(made.source.content, [edited(made, node, changes)]) == b"x = (a or\n b)\n"


def test_a_comment_is_never_lost() -> None:
    made, node = expression("a in (0,  # none\n 1)")
    with pytest.raises(CannotRewrite) as unfit:
        edited(made, node, [(node, to.Chosen(True, "f"))])
    assert unfit.value.reason == "comment-inside"
    answer = change("r", made.place(node), [(node, to.Chosen(True, "f"))], "said")
    assert isinstance(answer, Skip) and answer.reason == "comment-inside"


def test_what_is_nested_too_deeply_stays() -> None:
    made, node = expression(" or ".join(f"a == {number}" for number in range(1000)))
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    try:
        answer = change("r", made.place(node), [(node, to.Joined(False, 1000, 0, "f"))], "said")
    finally:
        sys.setrecursionlimit(usual)
    assert isinstance(answer, Skip) and answer.reason == "nested-deeply"


def test_a_change_is_a_fix_with_the_bytes_of_what_changes() -> None:
    made, node = expression("größe(a == b, c)")
    inner = only(made, ast.Compare)
    assert isinstance(inner, ast.Compare)
    answer = change("r", made.place(node), [(inner, to.Called("f"))], "two  words", ["n"], ["so"])
    assert isinstance(answer, Fix) and answer.message == "two words" and answer.needs == ("n",)
    assert apply(made.source.content, answer.edits).decode() == "größe(f(a == b), c)"
    assert answer.edits[0].start == made.span(inner)[0]


def test_a_fragment_gives_its_bytes_back() -> None:
    for text in ("(a  # b\n == \\\n c)", "f(\r\n a,\r\n)", "'größe' in {**a, 'b': [c for c in d if e]}"):
        made, node = expression(text)
        start, end = made.grouped_span(node)
        fragment = Fragment(made.source.content[start:end].decode())
        assert fragment.written(fragment.tree) == fragment.text


def test_a_change_is_written_once_and_each_place_has_its_own_edit() -> None:
    text = "x = (a == b)if(a == b)else(a == b)"
    made = module(text)
    places = [one for one in ast.walk(made.tree) if isinstance(one, ast.Compare)]
    edits = [edited(made, one, [(one, to.Plain.REVERSED)]) for one in places]
    assert apply(made.source.content, edits) == b"x = (a != b)if(a != b)else(a != b)"
    # Another change, another part and another place of the same text are other questions.
    called = [edited(made, one, [(one, to.Called("f"))]).text for one in places]
    assert sorted(called) == [b" f(a == b)", b" f(a == b)", b"f(a == b)"]
    assert edited(made, places[0], [(places[0].left, to.Called("f"))]).text == b"(f(a) == b)"


@pytest.mark.parametrize(
    ("text", "message", "expected"),
    [
        ("assert a == b, 'm'", "'m'", "check(\n    a == b, lambda: 'm')"),
        ("    assert a == b", None, "check(a == b)"),
    ],
)
def test_a_check_keeps_to_one_line_where_that_fits(text: str, message: str | None, expected: str) -> None:
    said = None if message is None else cst.parse_expression(message)
    made = code(check("check", cst.parse_expression("a == b"), said, ""))
    assert made == expected.replace("\n    ", "")


def test_a_check_that_is_too_long_has_an_argument_a_line() -> None:
    condition = cst.parse_expression(f"sym_and({'a' * 40} == b, {'c' * 40} == d, key=1)")
    made = code(check("check", condition, cst.parse_expression("'m'"), " " * 8, "Error"))
    lines = ["check(", "    Error,", "    sym_and("]
    lines += [
        f"        {'a' * 40} == b,",
        f"        {'c' * 40} == d,",
        "        key=1,",
        "    ),",
        "    lambda: 'm',",
        ")",
    ]
    assert made.split("\n") == lines


def test_lines_move_together() -> None:
    tree = cst.parse_expression("f(\n      a,  # one\n\n        # two\n        b,\n      )")
    assert code(indented(tree, "", "  ")) == "f(\n  a,  # one\n\n    # two\n    b,\n  )"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_statement_is_replaced_where_it_stands(newline: str) -> None:
    lines = ["def f(a, b):", "\tif a != b:  # why", '\t\traise ValueError("m"', '\t\t\t"n")', "\treturn a", ""]
    made = module(newline.join(lines))
    node = only(made, ast.If)
    assert isinstance(node, ast.If) and isinstance(node.body[0], ast.Raise)
    raised = node.body[0].exc
    assert isinstance(raised, ast.Call)
    edit = checked(made.place(node), node, [(node.test, to.Plain.REVERSED)], "check", raised.args[0])
    written = [lines[0], "\t# why", "\tcheck(", "\t    a == b,", "\t    lambda: (", '\t        "m"', '\t        "n"']
    assert apply(made.source.content, [edit]).decode().split(newline) == [
        *written,
        "\t    ),",
        "\t)",
        "\treturn a",
        "",
    ]


def test_a_statement_beside_another_is_no_place_for_a_check() -> None:
    made = module("if a: assert a == b\n")
    node = only(made, ast.Assert)
    assert isinstance(node, ast.Assert) and not Statement(made.place(node)).alone
    with pytest.raises(CannotRewrite) as unfit:
        check_edit(made.place(node), node, [], "check", None)
    assert unfit.value.reason == "one-line-suite"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f(n, max=m)\n", "f(n >= 0)\nf(n <= m)\n"),
        ("  f(n,\n    max=m,\n    message=s)\n", "  f(n >= 0,\n    message=s)\n  f(n <= m, s)\n"),
        ("  a = 1; f(n, max=m)\n", "  a = 1; f(n >= 0); f(n <= m)\n"),
    ],
)
def test_a_limit_is_checked_behind(text: str, expected: str) -> None:
    made = module(f"if 1:\n{text}" if text.startswith(" ") else text)
    (call,) = made.nodes.calls
    edit = limited(made, call, [(call.args[0], to.Compared(">="))], "max")
    assert apply(made.source.content, [edit]).decode().removeprefix("if 1:\n") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if c == 0:\n  n -= a + b\n", "n = choose(c == 0, n - (a + b), n)\n"),
        ("if c:  # why\n  n = 1\n", "# why\nn = choose(c, 1, n)\n"),
    ],
)
def test_a_chosen_value_is_an_expression(text: str, expected: str) -> None:
    made = module(text)
    node = only(made, ast.If)
    assert isinstance(node, ast.If)
    assert apply(made.source.content, [chosen_value(made, node, "choose")]).decode() == expected


def test_a_definition_gets_another_name() -> None:
    made = module("class A:\n    @f(g)\n    def  f(self): return f\n")
    node = only(made, ast.FunctionDef)
    assert isinstance(node, ast.FunctionDef)
    edit = renamed_definition(made, node, "other")
    assert apply(made.source.content, [edit]) == made.source.content.replace(b"def  f", b"def  other")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from {} import (  # some\n    gone,\n    b,  # kept\n)\n", "from {} import (  # some\n    b,  # kept\n)\n"),
        ("from {} import a, gone\nx = 1\n", "from {} import a\nx = 1\n"),
        ("from {} import gone\nx = 1\n", "x = 1\n"),
        ("try:\n    from {} import gone\nexcept E:\n    x = 1\n", "try:\n    pass\nexcept E:\n    x = 1\n"),
    ],
)
def test_what_nobody_uses_is_not_imported(text: str, expected: str) -> None:
    home = "torch.fx.experimental.symbolic_shapes"
    made = module(text.replace("{}", home))
    ((_, edit),) = unused_imports(made, ("gone",))
    assert apply(made.source.content, [edit]).decode() == expected.replace("{}", home)


def test_how_a_symbol_is_written() -> None:
    context = Context(TorchApi.load(None, None))
    made = module("import torch as t\nfrom a import b\nx = b.old(t)\n")
    call = only(made, ast.Call)
    assert isinstance(call, ast.Call)
    spelled = spell(made, call, "torch.sym_min", context)
    assert spelled is not None and (spelled.text, spelled.needs) == ("t.sym_min", ())
    other = renamed(made, call.func, "torch.fx.experimental.symbolic_shapes.guard_or_false", context)
    assert other is not None and other.text == "b.guard_or_false"
    missing = spell(made, call, "torch.fx.experimental.symbolic_shapes.sym_eq", context)
    assert missing is not None and missing.needs == ("torch.fx.experimental.symbolic_shapes.sym_eq",)


def test_libcst_is_imported_only_when_something_is_written(tmp_path: Path) -> None:
    (tmp_path / "writes.py").write_text(SHAPES)
    (tmp_path / "leaves.py").write_text("def f(x):\n    return x.shape[0]\n")
    run = (
        "import sys\nfrom symfix.codemods.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print('libcst' in sys.modules, file=sys.stderr)\n"
    )

    def loaded(*words: str) -> str:
        command = [sys.executable, "-c", run, *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stderr[-6:].strip()

    assert loaded("--help") == "False"
    assert loaded("check", "-j", "1", "leaves.py") == "False"
    assert loaded("check", "-j", "1", "writes.py") == "True"
    assert loaded("check", "-j", "1", "writes.py") == "False", "the second time the answer is stored"
