"""Tests of baselines: known findings are recognized after they have moved, and only new ones are reported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from running import SHAPES, symfix
from symfix.codemods.engine.baseline import Baseline, BaselineError, document
from symfix.codemods.model.edit import Edit
from symfix.codemods.model.fingerprint import fingerprints
from symfix.codemods.model.outcome import Changed, Failed, Refused, Unchanged
from symfix.codemods.model.rule import Fix, Safety, Skip
from symfix.codemods.model.source_file import SourceFile

LINE = "    torch._check_is_size(x.shape[{}])\n"
HEAD = "import torch\n\n\ndef {}(x: torch.Tensor):\n"


def found(text: str, *words: str, rule: str = "r", function: str | None = "f") -> tuple[SourceFile, list[Fix]]:
    """Return a file and a fix at each of the words."""
    starts = [text.encode().index(word.encode()) for word in words]
    fixes = [Fix(rule, 1, Safety.SAFE, (Edit(at, at + 1, b"!"),), "m", function=function) for at in starts]
    return SourceFile(Path("a.cpp"), text.encode()), fixes


def test_a_name_outlives_moved_lines_and_spacing() -> None:
    names = fingerprints(*found("int a = 1;\nint b = 2;\n", "a =", "b ="))
    moved = fingerprints(*found("// new\n\nint b = 2;\n  int  a=1;\n", "a=", "b ="))
    assert moved == names
    assert len(set(names)) == 2


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(found("int a = 2;\n", "a ="), id="another line"),
        pytest.param(found("int a = 1;\n", "a =", rule="s"), id="another rule"),
        pytest.param(found("int a = 1;\n", "a =", function="g"), id="another function"),
    ],
)
def test_a_name_differs_where_the_finding_does(other: tuple[SourceFile, list[Fix]]) -> None:
    assert fingerprints(*other) != fingerprints(*found("int a = 1;\n", "a ="))


def test_equal_lines_are_counted() -> None:
    source = SourceFile(Path("a.cpp"), b"f(x);\nf(x);\nf(x);\n")
    fixes = [Fix("r", 1, Safety.SAFE, (Edit(at, at + 1, b"!"),), "m") for at in (0, 6, 12)]
    names = fingerprints(source, fixes)
    assert len(set(names)) == 3
    assert fingerprints(source, list(reversed(fixes))) == list(reversed(names))


def test_a_skip_is_named_by_its_reason_too() -> None:
    source = SourceFile(Path("a.cpp"), b"f(x);\n")
    one, other = (Skip("r", 1, 0, 1, reason, "d") for reason in ("kernel", "loop"))
    assert fingerprints(source, [one]) != fingerprints(source, [other])


def test_the_known_is_left_out_and_the_gone_is_counted(tmp_path: Path) -> None:
    source, (one, two) = found("int a = 1;\nint b = 2;\n", "a =", "b =")
    source = SourceFile(tmp_path / "a.cpp", source.content)
    skip = Skip("r", 1, 0, 1, "kernel", "d")
    path = tmp_path / "known.json"
    path.write_text(document([Unchanged(source, (one,), (skip,)), Refused(Path("b"), "binary", "is")], tmp_path))
    assert list(json.loads(path.read_text())["findings"]) == ["a.cpp"]

    def never(outcome: Changed, fixes: object) -> Changed:
        raise AssertionError("nothing was applied")

    failed = Failed(Path("c"), "RuleBug")
    left, gone = Baseline.read(path).without_known([Unchanged(source, (one, two), ()), failed], never)
    assert left == [Unchanged(source, (two,), ()), failed]
    assert gone == 1, "the skip is gone"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "no such file; --write-baseline"),
        ("not json", "is no baseline; --write-baseline"),
        ("[]", "is no baseline"),
        ('{"version": 1, "findings": {"a": [{}]}}', "is no baseline"),
        ('{"version": 2, "findings": {}}', "is of version 2, not 1"),
    ],
)
def test_what_is_no_baseline_says_the_way_out(tmp_path: Path, text: str | None, said: str) -> None:
    path = tmp_path / "known.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(BaselineError) as error:
        Baseline.read(path)
    assert said in str(error.value)


@pytest.fixture
def big(tmp_path: Path) -> Path:
    """Write a project of 20 modules with 100 findings each."""
    (tmp_path / "src").mkdir()
    for module in range(20):
        functions = (HEAD.format(f"f{n}") + LINE.format(0) * 5 for n in range(20))
        text = "".join(functions).replace("import torch\n\n\n", "")
        (tmp_path / "src" / f"m{module:02}.py").write_text("import torch\n\n\n" + text)
    return tmp_path


def test_two_thousand_findings_are_adopted_in_two_commands(big: Path) -> None:
    ended = symfix("check", "--write-baseline", "known.json", "src", cwd=big, code=0)
    assert "2,000 findings noted in known.json" in ended.stderr
    assert symfix("check", "--baseline", "known.json", "src", cwd=big, code=0).stdout == ""

    first = big / "src" / "m00.py"
    lines = first.read_text().splitlines(keepends=True)
    moved = ["import torch\n", "\n", "# what was below is above\n", *reversed_functions(lines[3:])]
    first.write_text("".join(moved) + "\n\ndef new(x: torch.Tensor):\n" + LINE.format(1))
    ended = symfix("check", "--baseline", "known.json", "src", cwd=big, code=1)
    assert [line.partition(":")[0] for line in ended.stdout.splitlines()] == ["src/m00.py"]
    assert f":{len(first.read_text().splitlines())}:5:" in ended.stdout
    assert "gone:" not in ended.stderr


def reversed_functions(lines: list[str]) -> list[str]:
    functions = [lines[at : at + 6] for at in range(0, len(lines), 6)]
    assert all(function[0].startswith("def ") for function in functions)
    return [line for function in reversed(functions) for line in function]


def test_the_configuration_names_it_from_any_folder_and_the_gone_are_reported(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    module = tmp_path / "pkg" / "m.py"
    module.write_text(SHAPES)
    (tmp_path / "pyproject.toml").write_text("[tool.symfix]\nbaseline = 'known.json'\n")
    symfix("check", "--write-baseline", "known.json", "pkg", cwd=tmp_path, code=0)
    symfix("check", "m.py", cwd=tmp_path / "pkg", code=0)
    module.write_text("import torch\n")
    ended = symfix("check", "m.py", cwd=tmp_path / "pkg", code=0)
    assert "gone: 1 known finding; --write-baseline" in ended.stderr
    module.write_text(SHAPES.replace("shape[0]", "shape[1]"))
    symfix("check", "m.py", cwd=tmp_path / "pkg", code=1)


def test_known_findings_of_a_file_that_is_clean_or_gone_are_counted(tmp_path: Path) -> None:
    (tmp_path / "src" / "tests").mkdir(parents=True)
    for name in ("clean.py", "deleted.py", "stays.py", "tests/not_walked.py"):
        (tmp_path / "src" / name).write_text(SHAPES)
    paths = ("src", "src/tests/not_walked.py")
    symfix("check", "--write-baseline", "known.json", *paths, cwd=tmp_path, code=0)
    (tmp_path / "src" / "clean.py").write_text("import torch\n")
    (tmp_path / "src" / "deleted.py").unlink()
    assert "gone: 2 known findings;" in symfix("check", "--baseline=known.json", "src", cwd=tmp_path, code=0).stderr
    other = symfix("check", "--baseline=known.json", "--select=use_sym_eq", "src", cwd=tmp_path, code=0)
    assert "gone" not in other.stderr, "its rule was not asked"


def test_every_format_leaves_the_known_out(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(SHAPES)
    symfix("check", "--write-baseline", "known.json", "m.py", cwd=tmp_path, code=0)
    log = json.loads(symfix("check", "--baseline=known.json", "--format=sarif", "m.py", cwd=tmp_path, code=0).stdout)
    assert log["runs"][0]["results"] == []
    said = json.loads(symfix("check", "--baseline=known.json", "--format=json", "m.py", cwd=tmp_path, code=0).stdout)
    assert said["summary"]["fixes"] == 0
