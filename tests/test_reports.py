from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from symfix.codemods.model.edit import Edit
from symfix.codemods.model.outcome import Changed, Failed, Outcome, Refused, Unchanged
from symfix.codemods.model.rule import Fix, Safety, Skip
from symfix.codemods.model.source_file import SourceFile
from symfix.codemods.reports import frames, github, machine, sarif, text
from symfix.codemods.reports.patch import patch

BEFORE = b"// n\xc3\xa9\nint n = t.numel();\nloop(n);\n"
SAFE = Fix("use_sym_sizes", 1, Safety.SAFE, (Edit(17, 22, b"sym_numel"), Edit(7, 10, b"auto")), "size", function="f")
HELD = Fix("guard", 2, Safety.UNSAFE, (Edit(26, 30, b"x"),), "guard, or: 100%", default="not empty")
SKIP = Skip("use_sym_sizes", 4, 26, 33, "loop-bound", "line 3: a loop runs to it", function="g")
SOURCE = SourceFile(Path("aten/src/ATen/native/A.cpp"), BEFORE)
OUTCOMES: list[Outcome] = [
    Changed(SOURCE, BEFORE + b"x", (SAFE,), (HELD,), (SKIP,)),
    Unchanged(SourceFile(Path("b.cpp"), b""), (), ()),
    Refused(Path("c.cpp"), "binary", "is a binary file"),
    Failed(Path("d.cpp"), "Traceback\nRuleBug: oh\n"),
]


def test_the_shape_of_json_is_pinned() -> None:
    document = json.loads(machine.document(OUTCOMES, 9, tool="symfix 0.1.0", torch="2.13.0", written=True))
    assert document == {
        "version": 1,
        "tool": "symfix 0.1.0",
        "torch": "2.13.0",
        "files": [
            {
                "path": "aten/src/ATen/native/A.cpp",
                "outcome": "changed",
                "detail": None,
                "fixes": [
                    {
                        "rule": "use_sym_sizes", "mode": 1, "safety": "safe", "applied": True, "function": "f",
                        "message": "size", "default": None,
                        "edits": [
                            {"start": 7, "end": 10, "line": 2, "column": 1, "text": "auto"},
                            {"start": 17, "end": 22, "line": 2, "column": 11, "text": "sym_numel"},
                        ],
                    },
                    {
                        "rule": "guard", "mode": 2, "safety": "unsafe", "applied": False, "function": None,
                        "message": "guard, or: 100%", "default": "not empty",
                        "edits": [{"start": 26, "end": 30, "line": 3, "column": 1, "text": "x"}],
                    },
                ],
                "skips": [
                    {
                        "rule": "use_sym_sizes", "mode": 4, "function": "g", "line": 3, "column": 1,
                        "reason": "loop-bound", "detail": "line 3: a loop runs to it",
                    }
                ],
            },
            {"path": "b.cpp", "outcome": "unchanged", "detail": None, "fixes": [], "skips": []},
            {"path": "c.cpp", "outcome": "refused", "detail": "binary: is a binary file", "fixes": [], "skips": []},
            {"path": "d.cpp", "outcome": "failed", "detail": "Traceback\nRuleBug: oh\n", "fixes": [], "skips": []},
        ],
        "summary": {"files": 9, "changed": 1, "fixes": 2, "skips": 1},
    }  # fmt: skip


def test_what_is_only_checked_is_not_applied() -> None:
    document = json.loads(machine.document(OUTCOMES, 4, tool="t", torch="2.13.0", written=False))
    assert not any(fix["applied"] for file in document["files"] for fix in file["fixes"])


def test_json_lines_say_the_same_a_file_a_line() -> None:
    facts = {"tool": "t", "torch": "2.13.0", "written": True}
    document = json.loads(machine.document(OUTCOMES, 9, **facts))  # type: ignore[arg-type]
    *files, last = map(json.loads, machine.lines(OUTCOMES, 9, **facts))  # type: ignore[arg-type]
    assert files == document.pop("files")
    assert last == document


def test_text_has_a_line_a_place() -> None:
    assert list(text.findings(OUTCOMES, written=False, left=True)) == [
        "aten/src/ATen/native/A.cpp:2:1: use_sym_sizes safe: size\n",
        "aten/src/ATen/native/A.cpp:3:1: guard unsafe: guard, or: 100% [what changes: not empty]\n",
        "aten/src/ATen/native/A.cpp:3:1: use_sym_sizes left (loop-bound): line 3: a loop runs to it\n",
    ]
    assert next(text.findings(OUTCOMES, written=True, left=True)).endswith("use_sym_sizes fixed: size\n")
    assert "left" not in "".join(text.findings(OUTCOMES, written=True, left=False))
    assert next(text.troubles(OUTCOMES)) == "c.cpp: is a binary file [binary]\n"
    assert "".join(text.troubles(OUTCOMES)).endswith("RuleBug: oh\n")


def test_the_summary_counts_and_says_what_is_held_back() -> None:
    assert text.summary(OUTCOMES, 1234, written=True) == (
        "1,234 files, 1 changed: 1 fix; 1 place left with a reason\n1 unsafe fix held back: see --unsafe-fixes\n"
    )
    assert "1 place left with a reason: see --show-left\n" in text.summary(
        OUTCOMES, 4, written=False, hint=": see --show-left"
    )


def test_the_summary_says_in_words_that_there_is_nothing() -> None:
    assert text.summary([], 2, written=False) == "all clear: 2 files, nothing to change\n"
    assert text.summary([], 0, written=False).startswith("no file to look at: ")
    assert not text.summary(OUTCOMES[2:], 2, written=False).startswith("all clear")


def test_what_does_not_parse_is_said_with_its_place_and_many_files_are_counted() -> None:
    broken = [Unchanged(SourceFile(Path(f"{name}.cpp"), b"a\nb("), unparsed=3) for name in "abcd"]
    assert list(text.troubles(broken[:1])) == [f"a.cpp:2:2: {text.UNPARSED}\n"]
    assert list(text.troubles(broken)) == ["4 files do not parse in places, such as a.cpp:2:2: see --show-left\n"]
    assert len(list(text.troubles(broken, left=True))) == 4
    assert not text.summary(broken, 4, written=False).startswith("all clear")
    document = json.loads(machine.document(broken[:1], 1, tool="t", torch="2.13.0", written=False))
    assert document["files"][0]["detail"] == "parse-error: does not parse at line 2, column 2"
    run = json.loads(sarif.document(broken[:1], [], version="0"))["runs"][0]
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert (note["level"], note["message"]["text"]) == ("note", document["files"][0]["detail"])


def rows(before: bytes, *edits: Edit, safety: Safety = Safety.SAFE) -> list[tuple[str, str]]:
    fix = Fix("r", 1, safety, edits, "m")
    return [tuple(row) for row in frames.frame(SourceFile(Path("a.py"), before), fix)]  # type: ignore[misc]


def test_a_frame_has_the_line_a_caret_and_the_change() -> None:
    assert rows(b"x\n\tn = t.size(0);\n", Edit(9, 13, b"sym_size")) == [
        ("old", "  2 - \tn = t.size(0);"),
        ("caret", "    | \t      ^^^^"),
        ("new", "  2 + \tn = t.sym_size(0);"),
    ]


def test_a_frame_of_wide_letters_of_several_lines_and_of_what_is_only_inserted() -> None:
    text_before = "漢 = f(\n  a)\nb\r\nc\n".encode()
    assert rows(text_before, Edit(6, 11, b"g(")) == [
        ("old", "  1 - 漢 = f("),
        ("caret", "    |      ^^"),
        ("old", "  2 -   a)"),
        ("new", "  1 + 漢 = g(a)"),
    ]
    assert rows(b"a\nb\n", Edit(2, 2, b"new\n")) == [("note", "  2 | b"), ("caret", "    | ^"), ("new", "  2 + new")]
    assert rows(b"a\r\nb", Edit(3, 4, b"c")) == [("old", "  2 - b"), ("caret", "    | ^"), ("new", "  2 + c")]


def test_a_frame_obeys_nothing_that_stands_in_the_file_and_ends() -> None:
    assert rows(b"\x1b[31mx", Edit(5, 6, b"y"))[0] == ("old", "  1 - \ufffd[31mx")
    many = rows(b"x\n" * 40, Edit(0, 80, b"y\n" * 40))
    assert len(many) == frames.MOST_ROWS + 1
    assert many[-1][1] == "  … 57 more lines: symfix diff shows them"


def test_a_frame_of_what_is_left_or_shown_only_has_no_change() -> None:
    assert [tuple(row) for row in frames.frame(SOURCE, SKIP)] == [
        ("note", "  3 | loop(n);"),
        ("caret", "    | ^^^^^^^"),
    ]
    assert [kind for kind, _ in rows(b"x", Edit(0, 1, b"y"), safety=Safety.MANUAL)] == ["note", "caret"]


def test_statistics_count_by_rule_and_reason() -> None:
    assert [line.split(maxsplit=2) for line in text.statistics(OUTCOMES).splitlines()] == [
        ["1", "guard", "fix, unsafe"],
        ["1", "use_sym_sizes", "fix, safe"],
        ["1", "use_sym_sizes", "left, loop-bound"],
    ]


def test_github_commands_are_escaped() -> None:
    lines = list(github.workflow_commands(OUTCOMES))
    assert lines[0] == (
        "::warning file=aten/src/ATen/native/A.cpp,line=2,col=1,title=symfix use_sym_sizes::size (safe)\n"
    )
    assert "guard, or: 100%25 (unsafe)" in lines[1]
    assert lines[-1] == "::error file=d.cpp,title=symfix::RuleBug: oh\n"


def git_apply(folder: Path, name: str, before: bytes, after: bytes) -> bytes:
    target = folder / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(before)
    subprocess.run(
        ["git", "-c", "core.autocrlf=false", "apply", "-"], cwd=folder, input=patch(name, before, after), check=True
    )
    return target.read_bytes()


@pytest.mark.parametrize("name", ["a.cpp", "sub/with blank.cpp", "n\u00e9 \u6f22.cpp", 'q"uote\\.cpp', "tab\there.py"])
def test_git_applies_the_patch_whatever_the_name(tmp_path: Path, name: str) -> None:
    assert git_apply(tmp_path, name, b"one\ntwo\n", b"one\n2\n") == b"one\n2\n"


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text("ab\n\r\t\u00e9\f\v", max_size=40), st.text("ab\n\r\t\u00e9\f\v", min_size=1, max_size=40))
def test_git_applies_the_patch_whatever_the_text(tmp_path: Path, before: str, after: str) -> None:
    one, other = ("top\n" + before).encode(), ("top\n" + after).encode()
    if one != other:
        assert git_apply(tmp_path, "a.cpp", one, other) == other
