"""Tests of words: help, examples, unknown names, shell completion, excluded files, and docstrings."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import click
import pytest
from running import SHAPES, symfix
from symfix.codemods.cli import main_group
from symfix.codemods.commands.examples import EXAMPLES, SECTIONS
from symfix.codemods.harness import resilient_batch
from symfix.codemods.system import cache_folder
from symfix.codemods.workflows.hunt.failure import Operator
from symfix.codemods.workflows.hunt.operator_names import UnknownOperator, resolve


def commands(group: click.Group, before: str = "") -> dict[str, click.Command]:
    found = {f"{before}{name}": command for name, command in group.commands.items()}
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            found |= commands(command, f"{name} ")
    return found


COMMANDS = commands(main_group)


def test_every_command_has_examples_and_no_other_has() -> None:
    assert set(EXAMPLES) - {""} == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_are_in_the_help_and_are_words_that_the_command_takes(name: str) -> None:
    runner = subprocess.run(
        [sys.executable, "-m", "symfix", *name.split(), "--help"], capture_output=True, text=True, check=True
    )
    for example in EXAMPLES[name]:
        assert f"  {example}\n" in runner.stdout
        words = shlex.split(example.replace('eval "$(', "").replace(')"', "").partition(" | ")[0].partition(" > ")[0])
        words = words[: words.index("<")] if "<" in words else words
        group: click.Command = main_group
        assert words.pop(0) == "symfix"
        while isinstance(group, click.Group):
            group = group.commands[words.pop(0)]
        group.make_context(name, words)


def test_the_list_of_commands_is_not_cut_off(tmp_path: Path) -> None:
    said = " ".join(symfix("--help", cwd=tmp_path, code=0, COLUMNS="80").stdout.split())
    assert "..." not in said.partition("Rewrite:")[2]
    assert "write a proven patch" in said
    assert "..." not in symfix("series", "--help", cwd=tmp_path, code=0, COLUMNS="80").stdout.partition("Commands:")[2]


def test_every_command_is_in_one_section() -> None:
    assert sorted(name for names in SECTIONS.values() for name in names) == sorted(main_group.commands)


def test_help_lists_each_section_with_one_line_per_command(tmp_path: Path) -> None:
    listed = symfix("--help", cwd=tmp_path, code=0, COLUMNS="80").stdout.partition("\nRewrite:\n")[2]
    sections: dict[str, list[str]] = {"Rewrite": []}
    columns = set()
    for line in filter(None, listed.partition("\nExamples:\n")[0].splitlines()):
        if line.endswith(":"):
            sections[line.removesuffix(":")] = []
        else:
            sections[[*sections][-1]].append(line.split()[0])
            columns.add(len(line) - len(line[2:].partition("  ")[2].lstrip()))
    assert {title: tuple(names) for title, names in sections.items()} == SECTIONS
    assert len(columns) == 1, "descriptions begin in several columns"


def test_python_m_symfix_runs_it_and_takes_nothing_from_the_working_folder(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("raise SystemExit('the folder was imported')\n")
    (tmp_path / "m.py").write_text(SHAPES)
    ended = subprocess.run(
        [sys.executable, "-m", "symfix", "check", "m.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1, ended.stderr
    assert ended.stdout.startswith("m.py:5:5: ")
    usage = subprocess.run([sys.executable, "-m", "symfix", "check"], capture_output=True, text=True, check=False)
    assert usage.stderr.startswith("Usage: python -m symfix check ")


def test_the_nearest_rule_is_named(tmp_path: Path) -> None:
    for words in (["check", "--select", "use_sym_size", "."], ["diff", "--ignore", "use_sym_size", "."]):
        assert "no rule 'use_sym_size'; do you mean 'use_sym_sizes'?" in symfix(*words, cwd=tmp_path, code=2).stderr
    assert "do you mean 'use_sym_sizes'?" in symfix("rule", "use_sym_size", cwd=tmp_path, code=2).stderr
    assert "do you mean" not in symfix("rule", "zzz", cwd=tmp_path, code=2).stderr


def completed(cwd: Path, *words: str, **environment: str) -> list[str]:
    asked = {"_SYMFIX_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    program = Path(sys.executable).with_name("symfix")
    ended = subprocess.run(
        [program], cwd=cwd, capture_output=True, text=True, check=True, env={**os.environ, **asked, **environment}
    )
    assert ended.stderr == ""
    return [line.partition(",")[2] for line in ended.stdout.splitlines() if line]


def test_a_shell_completes_commands_options_rules_and_operators(tmp_path: Path, fresh_cache: Path) -> None:
    assert completed(tmp_path, "symfix", "rep") == ["repair"]
    assert completed(tmp_path, "symfix", "check", "--show") == ["--show-left"]
    assert completed(tmp_path, "symfix", "rule", "use_sym_si") == ["use_sym_sizes"]
    assert completed(tmp_path, "symfix", "check", "--select", "use_sym_eq,use_sym_si") == ["use_sym_eq,use_sym_sizes"]
    assert completed(tmp_path, "symfix", "hunt", "fft.f") == []
    names = [("fft.fft", ""), ("fft.fft2", ""), ("abs", "")]
    cache_folder.store(cache_folder.folder("opinfos") / "one.json", json.dumps(names).encode())
    assert completed(tmp_path, "symfix", "hunt", "fft.f") == ["fft.fft", "fft.fft2"]
    assert completed(tmp_path, "symfix", "repair", "ab") == ["abs"]
    assert completed(tmp_path, "symfix", "verify", "--op", "fft.fft2") == ["fft.fft2"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_asks_symfix(tmp_path: Path, shell: str) -> None:
    assert f"_SYMFIX_COMPLETE={shell}_complete" in symfix("completion", shell, cwd=tmp_path, code=0).stdout


KNOWN = [Operator("fft.fft", ""), Operator("fft.ifft", ""), Operator("masked.sum", ""), Operator("norm", "fro"),
         Operator("norm", "nuc"), Operator("fftlike", "")]  # fmt: skip


@pytest.mark.parametrize(
    ("word", "names"),
    [
        ("fft", ["fft.fft", "fft.ifft"]),
        ("torch.fft", ["fft.fft", "fft.ifft"]),
        ("masked.*", ["masked.sum"]),
        ("*fft", ["fft.fft", "fft.ifft"]),
        ("norm", ["norm", "norm"]),
    ],
)
def test_a_word_may_mean_several_operators(word: str, names: list[str]) -> None:
    assert [operator.name for operator in resolve([word], KNOWN)] == names


@pytest.mark.parametrize("word", ["mask", "nothing.*", "ff"])
def test_a_word_that_means_none_is_said(word: str) -> None:
    with pytest.raises(UnknownOperator, match="no operator test named"):
        resolve([word], KNOWN)


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    for name in ("a.py", "legacy/b.py", "src/c.py", "src/legacy/d.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(SHAPES)
    return tmp_path


def seen(folder: Path, *words: str) -> list[str]:
    ended = symfix("check", "--format", "json", *words, cwd=folder, code=1)
    return [file["path"] for file in json.loads(ended.stdout)["files"]]


def test_what_is_excluded_is_passed_over_below_folders_and_not_when_it_is_named(folders: Path) -> None:
    assert seen(folders, "--exclude", "legacy", ".") == ["a.py", "src/c.py"]
    assert seen(folders, "--exclude", "src/*.py,a.py", ".") == ["legacy/b.py", "src/legacy/d.py"]
    assert seen(folders, "--exclude", "legacy", "legacy/b.py") == ["legacy/b.py"]
    (folders / "pyproject.toml").write_text("[tool.symfix]\nexclude = ['legacy', 'a.py']\n")
    assert seen(folders, ".") == ["src/c.py"]
    assert seen(folders, "--exclude", "nothing", ".") == ["a.py", "legacy/b.py", "src/c.py", "src/legacy/d.py"]


def test_a_baseline_keeps_what_is_excluded(folders: Path) -> None:
    symfix("check", "--write-baseline", "known.json", ".", cwd=folders, code=0)
    ended = symfix("check", "--baseline", "known.json", "--exclude", "legacy", ".", cwd=folders, code=0)
    assert "gone" not in ended.stderr


def test_children_are_as_many_as_processors_and_memory_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    assert resilient_batch.children(7) == 7
    monkeypatch.setattr(resilient_batch, "default_jobs", lambda: 16)
    sizes = {"SC_PHYS_PAGES": 5 * 2**18, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(os, "sysconf", sizes.__getitem__)
    assert resilient_batch.children(None) == 2
    sizes["SC_PHYS_PAGES"] = 1
    assert resilient_batch.children(None) == 1


def test_every_command_that_takes_jobs_says_the_same_of_them() -> None:
    options = [one for command in COMMANDS.values() for one in command.params if one.name == "jobs"]
    assert len(options) >= 9
    assert {tuple(one.opts) for one in options} == {("--jobs", "-j")}
    assert {str(one.help).partition(" [")[0] for one in options if isinstance(one, click.Option)} == {
        "Processes at a time"
    }


TOP = Path(__file__).parents[1]
FOLDERS = ("codemods", "cpp", "python", "schemas", "scripts", "tests")
_QUESTION = re.compile(r"\W*(?:What|Whether|Which|Where|How|Why|Who|When)\b")
_BANNED = re.compile(
    r"\b(?:stands?|stood|hangs? on|nobody|whoever|whatever|wherever|surely|aside|anew|c[ao]mes? of|so many"
    r"|as good as)\b(?!-)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"``.*?``|`[^`]*`", re.DOTALL)


def docstrings(text: str) -> Iterator[tuple[int, str]]:
    """Yield the docstrings of modules, classes, functions and attributes, with their lines."""
    for node in ast.walk(ast.parse(text)):
        for block in ("body", "orelse", "finalbody"):
            statements = getattr(node, block, None)
            for one in statements if isinstance(statements, list) else ():
                value = one.value if isinstance(one, ast.Expr) else None
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    yield one.lineno, value.value


def is_question(docstring: str) -> bool:
    """Return whether a docstring begins with a question word, so that its subject has no name."""
    return _QUESTION.match(docstring) is not None


def banned_words(docstring: str) -> list[str]:
    """Return the banned words of a docstring, without those in backquotes."""
    return _BANNED.findall(_QUOTED.sub("", docstring))


@lru_cache(maxsize=1)
def all_docstrings() -> tuple[tuple[str, str], ...]:
    """Return all docstrings of the product, the scripts and the tests, each with its file and line."""
    paths = [*TOP.glob("*.py"), *(path for folder in FOLDERS for path in (TOP / folder).rglob("*.py"))]
    return tuple(
        (f"{path.relative_to(TOP).as_posix()}:{line}", text)
        for path in sorted(paths)
        for line, text in docstrings(path.read_text(encoding="utf-8"))
    )


def test_docstring_begins_with_no_question_word() -> None:
    assert [(place, text) for place, text in all_docstrings() if is_question(text)] == []


def test_docstring_contains_no_banned_word() -> None:
    assert [(place, found) for place, text in all_docstrings() if (found := banned_words(text))] == []


def test_docstrings_of_all_kinds_are_checked() -> None:
    kinds = '"a"\nclass B:\n    "b"\n    c: int\n    "c"\n    async def d(self):\n        "d"\ne = 1\n"e"\n'
    assert sorted(text for _, text in docstrings(kinds)) == ["a", "b", "c", "d", "e"]
    assert len(all_docstrings()) > 4000


@pytest.mark.parametrize("text", ["Whether it is.", "What it does.", "How.", "``Why`` it is not."])
def test_is_question_of_a_question_word_is_true(text: str) -> None:
    assert is_question(text)


@pytest.mark.parametrize("text", ["Return whether it is.", "Whatnot.", "Howitzers."])
def test_is_question_of_another_word_is_false(text: str) -> None:
    assert not is_question(text)


def test_banned_words_leave_out_quoted_words_and_compounds() -> None:
    assert banned_words("A `stand` of ``so many`` stand-ins.") == []
    assert banned_words("It stands aside, and Nobody comes of it.") == ["stands", "aside", "Nobody", "comes of"]
