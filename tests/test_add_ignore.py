"""Tests of ``fix --add-ignore``, which adds a comment for each finding and changes no code."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from running import SHAPES, symfix
from symfix.codemods.cli import main_group
from symfix.codemods.commands import suppress
from symfix.codemods.engine.registry import load_language
from symfix.codemods.engine.suppression import Suppressions
from symfix.codemods.engine.suppression_edits import Ignored, ignore, refusal
from symfix.codemods.model.edit import Edit
from symfix.codemods.model.rule import Fix, Safety
from symfix.codemods.model.source_file import SourceFile

CPP = load_language("symfix.cpp")
PYTHON = load_language("symfix.python")


def noted(text: str, *places: str, rule: str = "r", suffix: str = ".py") -> Ignored:
    """Return the result for a text with a fix at the first byte of each place."""
    content = text.encode()
    starts = [content.index(place.encode()) for place in places]
    fixes = [Fix(rule, 1, Safety.SAFE, (Edit(start, start + 1, b"!"),), "m") for start in starts]
    return ignore(SourceFile(Path(f"a{suffix}"), content), fixes, CPP if suffix == ".cpp" else PYTHON, "why")


def test_a_comment_stands_above_the_line() -> None:
    done = noted("a = 1\n\nif a:\n    b = a\n", "b = a")
    assert done.after == b"a = 1\n\nif a:\n    # symfix: ignore[r] why\n    b = a\n"
    assert (len(done.noted), done.left) == (1, ())


def test_line_ends_are_kept() -> None:
    assert noted("a = 1\r\nc = 2\r\nb = a", "b =").after == b"a = 1\r\nc = 2\r\n# symfix: ignore[r] why\r\nb = a"


@pytest.mark.parametrize(
    ("text", "after"),
    [
        pytest.param("b = 1\n", "b = 1  # symfix: ignore[r] why\n", id="the first lines are the file's own"),
        pytest.param(
            "a = 1\n\nc = a + \\\n    b\n", "a = 1\n\nc = a + \\\n    b  # symfix: ignore[r] why\n", id="continued"
        ),
        pytest.param(
            "\n\n# symfix: ignore[other] theirs\nb = 2\n",
            "\n\n# symfix: ignore[other] theirs\nb = 2  # symfix: ignore[r] why\n",
            id="another's comment above",
        ),
        pytest.param(
            "\n\nb = 2  # symfix: ignore[other] theirs\n",
            "\n\n# symfix: ignore[r] why\nb = 2  # symfix: ignore[other] theirs\n",
            id="another's comment beside",
        ),
    ],
)
def test_where_above_would_not_do(text: str, after: str) -> None:
    done = noted(text, "b")
    assert done.after.decode() == after
    reasons = Suppressions.of(SourceFile(Path("a.py"), done.after)).reasons
    place = re.search(rb"^ *b", done.after, re.MULTILINE)
    assert place is not None
    line = 1 + done.after[: place.start()].count(b"\n")
    assert reasons == {(line, "r"): "why"} | ({(line, "other"): "theirs"} if "theirs" in text else {})


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('a = 1\n\nc = f"""\n{b}\n"""\n', id="in a string"),
        pytest.param("a = 1\n\nc = a + \\\n    b + \\\n    a\n", id="between continued lines"),
        pytest.param("\n\n# symfix: ignore[x] t\nb = 2  # symfix: ignore[y] u\n", id="both places are taken"),
    ],
)
def test_where_no_comment_fits_the_finding_is_left(text: str) -> None:
    done = noted(text, "b")
    assert done.after == text.encode()
    assert len(done.left) == 1


def test_one_that_does_not_fit_keeps_no_other_out() -> None:
    text = 'a = 1\n\nx = 2\nc = f"""\n{b}\n"""\ny = 3\n'
    done = noted(text, "x =", "b", "y =")
    assert done.after.count(b"symfix: ignore[r] why") == 2
    assert [fix.start for fix in done.left] == [text.index("b")]
    assert ast.dump(ast.parse(done.after)) == ast.dump(ast.parse(text))


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("\n\nint b;\n", "\n\n// symfix: ignore[r] why\nint b;\n"),
        ("\n\nf(a, // one's\n  b);\n", "\n\nf(a, // one's\n  // symfix: ignore[r] why\n  b);\n"),
        ("\n\n#define F(x) \\\n  b(x)\n", "\n\n#define F(x) \\\n  b(x)  // symfix: ignore[r] why\n"),
        ("\n\n#define F(x) \\\n  b(x); \\\n  x\n", None),
        ('\n\nauto s = R"x(\n b )x";\n', '\n\nauto s = R"x(\n b )x";  // symfix: ignore[r] why\n'),
        ('\n\nauto s = R"x(\n b\n)x";\n', None),
        ("\n\n/* c */ b(1'000, '\"', \"//\");\n", "\n\n// symfix: ignore[r] why\n/* c */ b(1'000, '\"', \"//\");\n"),
    ],
)
def test_in_cpp_the_tokens_stay(text: str, after: str | None) -> None:
    done = noted(text, "b", suffix=".cpp")
    assert done.after.decode() == (text if after is None else after)
    assert len(done.left) == (after is None)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b"a; // x\nb;", b"a; // x b;"),
        (b"f('\"'); // c", b"f('\"'); d"),
        (b'"//" a', b'"//" b'),
        (b"#define A b\nc", b"#define A b // \\\nc"),
        (b"#define A b\nc", b"#define A b c"),
        (b'R"(/*)" a /**/', b'R"(/*)" b /**/'),
        (b"1'0 /*'*/ + 2", b"1'0 /*'*/ + 3"),
    ],
)
def test_other_code_is_not_the_same(one: bytes, other: bytes) -> None:
    assert not CPP.same_code(one, other)
    assert CPP.same_code(one, one)


@pytest.mark.parametrize("reason", ["", "  ", "two\nlines", "it ends so \\"])
def test_what_is_no_reason(reason: str) -> None:
    assert refusal(reason) is not None
    assert refusal("C:\\ is fine, and so is caf\u00e9") is None


def test_two_rules_on_a_line_share_a_comment() -> None:
    fixes = [Fix(name, 1, Safety.SAFE, (Edit(2, 3, b"!"),), "m") for name in ("s", "r")]
    done = ignore(SourceFile(Path("a.py"), b"\n\nb\n"), fixes, PYTHON, "why")
    assert done.after == b"\n\n# symfix: ignore[r,s] why\nb\n"


def test_the_checker_is_silent_afterwards_and_a_second_run_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(SHAPES)
    ended = symfix("fix", "--allow-dirty", "m.py", "--add-ignore", "until 2.9 is out", cwd=tmp_path, code=0)
    assert "1 finding in 1 file now with a comment" in ended.stderr
    after = path.read_text()
    assert after == SHAPES.replace(
        "    torch._check", "    # symfix: ignore[migrate_check_is_size] until 2.9 is out\n    torch._check"
    )
    assert "left (suppressed): until 2.9 is out" in symfix("check", "m.py", "--show-left", cwd=tmp_path, code=0).stdout
    symfix("fix", "--allow-dirty", "m.py", "--add-ignore", "again", cwd=tmp_path, code=0)
    assert path.read_text() == after


def test_a_finding_without_a_comment_is_printed_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(
        SHAPES
        + "\n\ndef g(x: torch.Tensor, *, k=()):\n"
        + "    a = 1 + \\\n    min(x.shape[0], x.shape[1]) + \\\n    2\n    return a\n"
    )
    ended = symfix("fix", "--all-functions", "--allow-dirty", "m.py", "--add-ignore", "known", cwd=tmp_path, code=1)
    assert ended.stdout.startswith("m.py:11:5: use_sym_min_max left: no comment fits")
    assert "1 finding in 1 file now with a comment; 1 left" in ended.stderr
    assert path.read_text().count("symfix: ignore") == 1
    symfix("check", "--all-functions", "m.py", cwd=tmp_path, code=1)


def test_comments_after_which_other_findings_come_are_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.py").write_text(SHAPES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(suppress, "_silenced", lambda *_: False)
    arguments = ["fix", "--allow-dirty", "m.py", "--add-ignore", "known"]
    assert main_group.main(arguments, standalone_mode=False) == 1
    assert "with the comments the file has other findings" in capsys.readouterr().out
    assert (tmp_path / "m.py").read_text() == SHAPES


def test_what_has_no_meaning_beside_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(SHAPES)
    assert "say why" in symfix("fix", "--allow-dirty", "m.py", "--add-ignore", " ", cwd=tmp_path, code=2).stderr
    assert (
        "--verify"
        in symfix("fix", "--allow-dirty", "m.py", "--add-ignore", "x", "--verify", cwd=tmp_path, code=2).stderr
    )
    assert (tmp_path / "m.py").read_text() == SHAPES
