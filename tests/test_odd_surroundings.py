"""Tests of unexpected pipes, devices, names, streams and documents: one clear line each, and the right exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from decks import series as made_up
from projects import commit, project
from running import MENDED, SHAPES, git, symfix
from symfix.codemods.engine.file_discovery import DiscoveredFile
from symfix.codemods.engine.fixpoint import FixOptions
from symfix.codemods.engine.registry import Registry
from symfix.codemods.engine.run import CheckRequest, run
from symfix.codemods.model.outcome import Refused
from symfix.codemods.workflows.pull_requests.review.colour import coloured
from symfix.codemods.workflows.pull_requests.review.diff import blocks_of
from symfix.codemods.workflows.pull_requests.review.page import page
from symfix.codemods.workflows.pull_requests.review.page_model import deck_of
from symfix.codemods.workflows.pull_requests.series.hunks import hunks_between

CLI = [sys.executable, "-m", "symfix.codemods.cli"]
SECONDS = 120


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "m.py").write_text(SHAPES)
    return tmp_path


def shell(command: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a shell command line with a time limit."""
    return subprocess.run(
        ["sh", "-c", command.replace("symfix", " ".join(CLI))], cwd=folder, capture_output=True, text=True,
        timeout=SECONDS, check=False, env={**os.environ, **environment}, errors="surrogateescape",
    )  # fmt: skip


# Paths that are not regular files.


def pipe(path: Path) -> None:
    os.mkfifo(path)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def huge(path: Path) -> None:
    path.touch()
    os.truncate(path, 2**40)


@pytest.mark.parametrize(("make", "said"), [(pipe, "pipe"), (endless, "device"), (huge, "larger than 256 MiB")])
@pytest.mark.parametrize("command", ["check", "diff", "fix --allow-dirty"])
def test_what_is_no_source(folder: Path, make: Callable[[Path], None], said: str, command: str) -> None:
    make(folder / "odd.py")
    ended = symfix(*command.split(), "odd.py", cwd=folder, code=2)
    (line, *_) = ended.stderr.splitlines()
    assert line.startswith("odd.py: ") and said in line and line.endswith("name source files only [not-a-file]")
    assert ended.stdout == ""
    below = symfix(*command.split(), ".", cwd=folder, code=0 if command.startswith("fix") else 1)
    assert "odd.py: " in below.stderr and "bug" not in below.stderr


@pytest.mark.parametrize("make", [pipe, endless, huge])
@pytest.mark.parametrize("words", [["check", "--baseline", "odd", "m.py"], ["check", "--config", "odd", "m.py"]])
def test_what_is_no_document(folder: Path, make: Callable[[Path], None], words: list[str]) -> None:
    make(folder / "odd")
    assert "odd: can't be read" in symfix(*words, cwd=folder, code=2).stderr.splitlines()[-1]


@pytest.mark.parametrize("name", ["pyproject.toml", "ruff.toml", ".clang-format"])
@pytest.mark.parametrize("make", [pipe, endless])
def test_settings_that_are_no_file_are_none(folder: Path, name: str, make: Callable[[Path], None]) -> None:
    (folder / "m.cpp").write_text(
        "#include <ATen/core/Tensor.h>\nint64_t f(const at::Tensor& x) { return x.numel(); }\n"
    )
    make(folder / name)
    symfix("check", "m.py", "m.cpp", cwd=folder, code=1)


@pytest.mark.parametrize("command", [["check"], ["diff"], ["fix"], ["fix", "--allow-dirty"], ["series", "plan"]])
@pytest.mark.parametrize("long", ["a" * 5000 + ".py", "a/" * 3000 + "m.py"])
def test_a_path_that_is_too_long(folder: Path, command: list[str], long: str) -> None:
    git(folder, "init", "-q")
    ended = symfix(*command, long, cwd=folder, code=2)
    assert "File name too long" in ended.stderr
    assert "bug" not in ended.stderr
    assert len(ended.stderr.splitlines()) <= 2


# Documents with too deep nesting.


@pytest.mark.parametrize("text", ["[" * 200_000, '{"version": 1, "findings": ' * 50_000, "{}", "[]", "null", "\0"])
def test_a_baseline_that_is_none(folder: Path, text: str) -> None:
    (folder / "known.json").write_text(text)
    ended = symfix("check", "--baseline", "known.json", "m.py", cwd=folder, code=2)
    assert ended.stderr.splitlines()[-1] == ("Error: known.json: is no baseline; --write-baseline known.json makes one")


@pytest.mark.parametrize("text", ["[" * 200_000, "[]", "null", "{}"])
def test_decisions_and_plans_that_are_none(tmp_path: Path, text: str) -> None:
    folder = project(tmp_path / "repo", {"m.py": SHAPES})
    symfix("series", "plan", "m.py", cwd=folder, code=0)
    (folder / ".git" / "decisions.json").write_text(text)
    said = symfix("series", "build", "--decisions", ".git/decisions.json", cwd=folder, code=2).stderr
    assert "the decisions do not read as such" in said
    (folder / ".git/symfix/main/plan.json").write_text(text)
    said = symfix("series", "build", "--no-verify", cwd=folder, code=2).stderr
    assert "plan again" in said
    assert len(said.splitlines()) == 1


# Streams.


@pytest.mark.parametrize(
    "words",
    ["check m.py", "check --format json m.py", "check --format sarif m.py", "check --format github m.py",
     "check --statistics m.py", "diff m.py", "fix - --stdin-filename n.py < m.py", "rule", "rule use_sym_sizes",
     "doctor", "--help", "check --help", "--version"],
)  # fmt: skip
def test_an_output_that_is_full(folder: Path, words: str) -> None:
    ended = shell(f"symfix {words} > /dev/full", folder)
    assert ended.returncode == 2, ended.stderr
    assert "symfix: the output can't be written: No space left on device\n" in ended.stderr
    assert "Traceback" not in ended.stderr and "Exception ignored" not in ended.stderr


def test_the_adapter_of_lintrunner_says_it_too(folder: Path) -> None:
    command = [sys.executable, "-m", "symfix.codemods.lintrunner", "--", "m.py"]
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(command, cwd=folder, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (2, "symfix: the output can't be written: No space left on device\n")


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&-"])
def test_a_stream_that_is_closed(folder: Path, closed: str) -> None:
    ended = shell(f"symfix check m.py {closed}", folder)
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr and "bug" not in ended.stderr


# Names and terminals with other encodings than UTF-8.


@pytest.fixture
def odd_names(tmp_path: Path) -> Path:
    folder = project(tmp_path / "repo", {"plain.py": SHAPES})
    (folder / os.fsdecode(b"caf\xe9")).mkdir()
    (folder / os.fsdecode(b"caf\xe9/m\xff.py")).write_text(SHAPES)
    (folder / "na\u00efve.py").write_text(SHAPES)
    commit(folder, "names")
    return folder


@pytest.mark.parametrize("style", ["text", "json", "json-lines", "github", "sarif"])
@pytest.mark.parametrize("locale", ["C.UTF-8", "C", "ascii"])
def test_names_that_are_not_utf8(odd_names: Path, style: str, locale: str) -> None:
    environment = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"} if locale == "ascii" else {"LC_ALL": locale}
    ended = shell(f"symfix check --format {style} .", odd_names, **environment)
    assert ended.returncode == 1, ended.stderr
    assert "Traceback" not in ended.stderr
    if style in ("json", "sarif"):
        document = json.loads(ended.stdout)
        if style == "json":
            assert os.fsdecode(b"caf\xe9/m\xff.py") in [file["path"] for file in document["files"]]
        else:
            places = {one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
                      for one in document["runs"][0]["results"]}  # fmt: skip
            assert "caf%E9/m%FF.py" in places
    elif style == "json-lines":
        assert os.fsdecode(b"caf\xe9/m\xff.py") in [json.loads(line).get("path") for line in ended.stdout.splitlines()]
    elif locale != "ascii":
        assert os.fsdecode(b"caf\xe9/m\xff.py") in ended.stdout


def test_a_series_of_files_whose_names_are_not_utf8(odd_names: Path) -> None:
    symfix("series", "plan", ".", cwd=odd_names, code=0)
    symfix("series", "build", "--no-verify", cwd=odd_names, code=0)
    symfix("series", "status", cwd=odd_names, code=0)
    said = subprocess.run(
        ["git", "ls-tree", "-r", "-z", "--name-only", "symfix/main/all"], cwd=odd_names, capture_output=True, check=True
    )
    names = [name for name in said.stdout.split(b"\0") if name]
    assert b"caf\xe9/m\xff.py" in names
    for name in names:
        content = subprocess.run(
            ["git", "show", b"symfix/main/all:" + name], cwd=odd_names, capture_output=True, check=True
        )
        assert MENDED in content.stdout.decode()


# The name of a series.


@pytest.mark.parametrize(
    "name", ["../../../X", "..", ".", "a/b", "/X", "", "a..b", "-x", "a b", "x.lock", "x.", "a\nb", "~", "é"]
)
@pytest.mark.parametrize("words", [["plan", "m.py"], ["build"], ["status"], ["send", "1"]])
def test_the_name_of_a_series_is_a_name(tmp_path: Path, name: str, words: list[str]) -> None:
    folder = project(tmp_path / "a" / "b" / "repo", {"m.py": SHAPES})
    before = sorted(tmp_path.rglob("*"))
    said = symfix("series", *words, f"--name={name}", cwd=folder, code=2).stderr
    assert "is no name: letters, digits" in said
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("name", ["main", "2.13-sizes", "a_b", "x.y.z", "lock"])
def test_a_good_name_of_a_series(tmp_path: Path, name: str) -> None:
    folder = project(tmp_path / "repo", {"m.py": SHAPES})
    symfix("series", "plan", "m.py", "--name", name, cwd=folder, code=0)
    symfix("series", "build", "--no-verify", "--no-page", "--name", name, cwd=folder, code=0)


# The page shows unchanged lines.


TEXT = 'A = "one\rtwo"\nB = """\r\r"""\nx = 1  # old\nC = "\x0c\x1c\u2028\x85"\ny = 2  # old\nend = 3\n'


@pytest.mark.parametrize("text", [TEXT, TEXT.replace("\n", "\r\n"), "\ufeff" + TEXT, "\n\n\n" + TEXT, TEXT + "\n\n"])
@pytest.mark.parametrize("path", ["m.py", "m.cpp", "m.txt", "m.h"])
def test_each_line_of_the_page_is_the_line_of_the_file(path: str, text: str) -> None:
    before, after = text.encode(), text.replace("old", "new").encode()
    lines = {"-": before.decode().split("\n"), "+": after.decode().split("\n")}
    lines[" "] = lines["-"]
    shown = ["".join(piece for _, piece in line) for line in coloured(path, text)]
    assert shown == [line.removesuffix("\r").replace("\r", "\u240d") for line in text.split("\n")]
    rows = [row for block in blocks_of(path, before, after, hunks_between(before, after))
            for piece in block.pieces for row in piece.rows]  # fmt: skip
    assert {row.kind for row in rows} == {" ", "-", "+"}
    for row in rows:
        number = row.new if row.kind == "+" else row.old
        assert number is not None
        seen = row.html.replace("<b>", "").replace("</b>", "").replace("</i>", "")
        while "<i" in seen:
            seen = seen[: seen.index("<i")] + seen[seen.index(">", seen.index("<i")) + 1 :]
        assert seen == lines[row.kind][number - 1].removesuffix("\r").replace("\r", "\u240d")


def test_no_lone_cr_reaches_the_page() -> None:
    value, record, entries = made_up(1)
    path = next(iter(entries))
    text = page(value, record, deck_of(value, record, entries, "symfix verify"))
    assert path in text and "\r" not in text


# Code with too deep nesting for a rule.


def bottomless(*words: object) -> object:
    return bottomless(*words)


@pytest.mark.parametrize("text", ["x = " + "(" * 50_000, "x = " + "-" * 50_000 + "1", "x = 0" + " + 1" * 50_000])
def test_a_list_of_expected_failures_that_is_too_deep(folder: Path, text: str) -> None:
    (folder / "deep.py").write_text(f"{text}\nxfail('abs')\n")
    said = symfix("xfails", "--check", "deep.py", cwd=folder, code=2).stderr
    assert said == "Error: deep.py: is no Python that can be read\n" or "deep.py:1: is no Python" in said


def test_a_rule_that_goes_too_deep_is_a_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, toy: Registry, fresh_cache: Path
) -> None:
    monkeypatch.setattr("symfix.codemods.engine.run.rewrite", bottomless)
    question = CheckRequest(frozenset(card.name for card in toy.rules), FixOptions(), toy)

    class Nothing:
        identity = "nothing"

        def context(self) -> object:
            return object()

    (tmp_path / "a.toy").write_bytes(b"quiet\n")
    report = run([DiscoveredFile.of(tmp_path / "a.toy")], question, Nothing())  # type: ignore[arg-type]
    (outcome,) = report.outcomes
    assert isinstance(outcome, Refused)
    assert (outcome.path, outcome.reason) == (tmp_path / "a.toy", "nested-too-deeply")
