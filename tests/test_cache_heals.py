"""Tests of damaged caches. Any damage is a cache miss, never a crash or another result."""

from __future__ import annotations

import json
import os
import pickletools
import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from running import SHAPES, symfix
from symfix.codemods.engine.registry import Registry
from symfix.codemods.harness import opinfo_runner
from symfix.codemods.harness.observation import Observation
from symfix.codemods.harness.opinfo_runner import Answer, Answers
from symfix.codemods.harness.process_limits import Limits
from symfix.codemods.harness.torch_variant import Harness
from symfix.codemods.system import cache_folder, generated_files
from symfix.codemods.system.generated_files import is_own, remember
from symfix.codemods.torchapi.index_cache import stored
from symfix.codemods.torchapi.torch_finder import TorchInstallation
from symfix.codemods.verify.build import compilation, prelude
from symfix.codemods.verify.build.compilation import Builder
from symfix.codemods.verify.build.prelude import Preludes
from symfix.codemods.verify.build.toolchain import Toolchain
from symfix.codemods.verify.change import Check, Verdict, Verification
from symfix.codemods.verify.choose.function_index import trace_index
from symfix.codemods.verify.choose.test_selection import coverage
from symfix.codemods.verify.evidence import keep, recall
from symfix.codemods.workflows.hunt.failure import Operator
from symfix.codemods.workflows.hunt.journal import HuntJournal as Hunts
from symfix.codemods.workflows.hunt.operator_names import operators_of
from symfix.codemods.workflows.pull_requests.regression import pr_test
from symfix.codemods.workflows.pull_requests.regression.test_proof import Regression
from symfix.codemods.workflows.pull_requests.regression.test_source import FailingCall
from symfix.codemods.workflows.repair.journal import TrialJournal as Trials
from symfix.codemods.workflows.repair.trials import Trial

TOP = Path(__file__).parents[1]

DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "cut": lambda content: content[: len(content) // 2],
    "cut by one": lambda content: content[:-1],
    "garbled": lambda content: b"\x80\x05garbage\n",
    "other JSON": lambda content: b'[{"a": ' + b"[" * 100_000,
    "flipped at the start": lambda content: flipped(content, 0),
    "flipped in the middle": lambda content: flipped(content, len(content) // 2),
    "flipped at the end": lambda content: flipped(content, len(content) - 1),
    "zeros": lambda content: b"\0" * len(content),
}


def flipped(content: bytes, at: int) -> bytes:
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


class Asked:
    """Fake laboratory of one torch, which counts its requests."""

    python = Path("python")
    limits = Limits()
    place = cast(TorchInstallation, SimpleNamespace(build="torch 1", package=Path("/torch")))

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.count = 0

    @property
    def laboratory(self) -> Harness:
        return cast(Harness, self)

    def ask(self, child: str, *_: object) -> tuple[Any, dict[str, Any]]:
        self.count += 1
        return None, {
            "opinfo_names": {"operators": [["abs", ""], ["norm", "nuc"]]},
            "operator_coverage": {"abs": ["abs", "abs_"], "norm": ["norm"]},
            "function_tracer": {"functions": {"a.py": {"f": 0}}, "ran": {"abs": [0]}},
        }[child]

    def bytes(self) -> bytes:
        self.count += 1
        return b"rows\nand rows\n"

    def answers(self) -> Answers:
        self.count += 1
        return Answers({("abs", "eager"): Answer(({"passed": True},), 3)})

    def regression(self) -> Regression:
        self.count += 1
        return Regression(
            FailingCall("abs", "torch.abs", ("x",), {"x": "ones(2)"}, (("x", 0),), False, "no"), "eager", "no"
        )


def kept_or_asked(asked: Asked) -> dict[Any, Answer]:
    known = opinfo_runner.recalled("-".join, [("abs", "eager")])
    if not known:
        answers = asked.answers()
        opinfo_runner.remember("-".join, answers)
        return answers.tasks
    return known


REPAIR = cast(Any, SimpleNamespace(operators=("abs",), samples={}, changes=()))
KINDS: dict[str, Callable[[Asked], object]] = {
    "torchapi": lambda asked: stored("torchapi", "key.jsonl", asked.bytes),
    "headers": lambda asked: stored("headers", "key.json", asked.bytes),
    "compilers": lambda asked: stored("compilers", "key", asked.bytes),
    "probes": lambda asked: stored("probes", "key.json", asked.bytes),
    "opinfos": lambda asked: operators_of(asked.laboratory, asked.place),
    "coverage": lambda asked: coverage(asked.laboratory, asked.place, lambda _: None),
    "traced": lambda asked: asdict(trace_index(asked.laboratory, asked.place)),
    "answers": kept_or_asked,
    "regressions": lambda asked: pr_test._kept(REPAIR, cast(Any, asked), asked.regression),
}
ELSEWHERE = {"rules", "results", "projects", "evidence", "objects", "precompiled", "hunts", "repair", "written"}
"""Kinds of entries with separate tests below."""


def files(cache: Path) -> list[Path]:
    return [path for path in cache.rglob("*") if path.is_file() and not path.name.endswith("lock")]


def test_every_kind_is_here() -> None:
    said: set[str] = set()
    for wing in ("codemods", "cpp", "python", "schemas"):
        for path in (TOP / wing).rglob("*.py"):
            said |= set(re.findall(r"(?:\bfolder|\bstored)\(\"(\w+)\"", path.read_text(encoding="utf-8")))
    assert said == KINDS.keys() | ELSEWHERE


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_symfix_wrote_is_not_its_own_where_the_entry_is_damaged(
    damage: str, tmp_path: Path, fresh_cache: Path
) -> None:
    report = tmp_path / "report.json"
    report.write_text("{}")
    assert not is_own(report)
    remember(report)
    assert is_own(report)
    (entry,) = files(fresh_cache)
    entry.write_bytes(DAMAGES[damage](entry.read_bytes()))
    assert not is_own(report)
    remember(report)
    assert is_own(report)
    report.write_text("{ }")
    assert not is_own(report)


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_entry_is_a_miss(kind: str, damage: str, tmp_path: Path, fresh_cache: Path) -> None:
    asked = Asked(tmp_path)
    answer = KINDS[kind](asked)
    once = asked.count
    assert KINDS[kind](asked) == answer and asked.count == once, "it is kept"
    (entry,) = files(fresh_cache)
    whole = entry.read_bytes()
    entry.write_bytes(DAMAGES[damage](whole))
    assert KINDS[kind](asked) == answer
    assert asked.count == 2 * once, "it was asked again"
    assert entry.read_bytes() == whole, "it has healed"


@pytest.mark.parametrize("damage", ["empty", "cut", "other JSON", "flipped in the middle"])
def test_a_run_over_a_damaged_cache_says_what_it_said(damage: str, tmp_path: Path, fresh_cache: Path) -> None:
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "m.py").write_text(SHAPES)
    os.utime(folder / "m.py", (1, 1))
    words = ("check", ".", "--format", "json")
    first = symfix(*words, cwd=folder, code=1)
    entries = {path: path.read_bytes() for path in files(fresh_cache)}
    assert {path.parent.name for path in entries} == {"rules", "results", "torchapi"}
    for path, content in entries.items():
        path.write_bytes(DAMAGES[damage](content))
    again = symfix(*words, cwd=folder, code=1)
    assert (again.stdout, again.stderr) == (first.stdout, first.stderr)
    assert {path: path.read_bytes() for path in entries} == entries


def test_no_byte_of_a_result_can_be_flipped(tmp_path: Path, fresh_cache: Path) -> None:
    content = b'{"a": 1}'
    path = tmp_path / "entry"
    cache_folder.store(path, content)
    whole = path.read_bytes()
    assert cache_folder.load(path) == content
    for at in range(len(whole)):
        path.write_bytes(flipped(whole, at))
        assert cache_folder.load(path) is None


def test_no_byte_of_the_evidence_can_be_flipped(tmp_path: Path) -> None:
    check = Check("eager", "op", Observation(False, "no", "very", True, 0.1), Observation(True, seconds=1e-7))
    kept = keep(Verification(Verdict.PROVEN, "said", ("a.py",), (check,), torch="2.13.0"), tmp_path, "key")
    assert kept.evidence is not None
    found = recall(tmp_path, "key")
    assert found is not None and found.cached and found.checks == (check,)
    whole = kept.evidence.read_bytes()
    for at in range(len(whole)):
        kept.evidence.write_bytes(flipped(whole, at))
        assert recall(tmp_path, "key") in (None, found)
    for damage in DAMAGES.values():
        kept.evidence.write_bytes(damage(whole))
        assert recall(tmp_path, "key") in (None, found)


def test_a_journal_loses_the_line_that_is_damaged_and_no_other(tmp_path: Path) -> None:
    hunts, trials = tmp_path / "hunts.jsonl", tmp_path / "trials.jsonl"
    names = [Operator(name) for name in ("abs", "norm", "sum")]
    for name in names:
        Hunts(hunts).add({"operator": [name.name, name.variant], "failures": []})
        Trials(trials, "torch").add({name.name: Trial(name.name, "passed")})
    for path in (hunts, trials):
        whole = path.read_bytes()
        for at in range(len(whole)):
            path.write_bytes(flipped(whole, at))
            if path == hunts:
                left = list(Hunts(path).rows)
                assert all(row["failures"] == [] for row in Hunts(path).rows.values())
            else:
                kept = Trials(path, "torch")
                left = [name for name in names if (found := kept.get(name.name)) and found.verdict == "passed"]
            # A line end belongs to two lines.
            assert len(left) >= len(names) - 2 and set(left) <= set(names)
        for damage in DAMAGES.values():
            path.write_bytes(damage(whole))
            Hunts(path)
            Trials(path, "torch")


def test_a_damaged_object_is_compiled_again(tmp_path: Path, fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    libraries = tmp_path / "torch" / "lib"
    toolchain = Toolchain(Path("g++"), "g++", "torch", (), (tmp_path / "torch" / "include",), libraries)
    made: list[str] = []

    def compiled(self: Builder, command: Any, target: Path) -> compilation.Built:
        made.append(target.name)
        target.write_bytes(b"\x7fELF and so on")
        return compilation.Built(tuple(command), target)

    monkeypatch.setattr(Builder, "_finish", compiled)
    builder = Builder(toolchain, tmp_path, precompile=False)

    def build() -> bytes:
        built = builder.compile("a.cpp", b"int a;").result()
        assert built.target is not None
        return built.target.read_bytes()

    assert build() == build() and len(made) == 1
    for number, damage in enumerate(DAMAGES.values(), 2):
        (entry,) = files(fresh_cache)
        entry.write_bytes(damage(entry.read_bytes()))
        assert build() == b"\x7fELF and so on"
        assert len(made) == number
    builder.close()


def test_a_damaged_header_is_compiled_again(tmp_path: Path, fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    include = tmp_path / "include"
    (include / "ATen" / "core").mkdir(parents=True)
    (include / "ATen" / "core" / "Tensor.h").touch()
    toolchain = Toolchain(Path("g++"), "g++", "torch", (), (include,), tmp_path)
    made: list[str] = []

    def compiled(command: list[str], **_: object) -> Any:
        target, rule = Path(command[command.index("-o") + 1]), Path(command[command.index("-MF") + 1])
        made.append(target.name)
        target.write_bytes(b"gpch and so on")
        rule.write_text("a.o: a.h \\\n b.h\n")
        return SimpleNamespace(code=0)

    monkeypatch.setattr(prelude, "run", compiled)

    def ask() -> Any:
        headers = Preludes(toolchain, tmp_path, Limits(), lambda _: None)
        return [headers.made(headers.wide), headers.made(headers.core)]

    assert ask() == ask() and len(made) == 2
    entries = {path: path.read_bytes() for path in files(fresh_cache) if path.suffix != ".lock"}
    assert len(entries) == 8
    for path, content in entries.items():
        for damage in DAMAGES.values():
            count = len(made)
            path.write_bytes(damage(content))
            assert all(ask())
            assert len(made) == count + 1, f"{path.name} was taken"
            assert path.read_bytes() == content


def test_the_cache_holds_no_pickles(tmp_path: Path, fresh_cache: Path) -> None:
    (tmp_path / "m.py").write_text(SHAPES)
    symfix("check", "m.py", cwd=tmp_path, code=1)
    for path in files(fresh_cache):
        with pytest.raises(ValueError):
            list(pickletools.genops(path.read_bytes()))
    for wing in ("codemods", "cpp", "python", "schemas"):
        for path in (TOP / wing).rglob("*.py"):
            assert not re.search(r"\b(import|from) (pickle|marshal|shelve|dill)\b", path.read_text(encoding="utf-8"))


# The cache of another user.


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_a_cache_that_others_can_write_is_neither_read_nor_written(
    tmp_path: Path, fresh_cache: Path, mode: int
) -> None:
    (tmp_path / "m.py").write_text(SHAPES)
    symfix("check", "m.py", cwd=tmp_path, code=1)
    before = {path: path.read_bytes() for path in files(fresh_cache)}
    rules = next(path for path in before if path.parent.name == "rules")
    poisoned = json.loads(cache_folder.load(rules) or b"")
    poisoned[0]["suffixes"] = poisoned[1]["suffixes"] = [".nothing"]
    cache_folder.store(rules, json.dumps(poisoned).encode())
    assert "unknown-language" in symfix("check", "m.py", cwd=tmp_path, code=2).stderr, "the poison works"
    (fresh_cache / "symfix").chmod(mode)
    assert "migrate_check_is_size" in symfix("check", "m.py", cwd=tmp_path, code=1).stdout
    assert set(files(fresh_cache)) == set(before)
    said = symfix("doctor", cwd=tmp_path, code=0).stdout
    assert "missing  cache folder: others can write" in said


def test_somebody_elses_cache_is_not_read(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache_folder.store(cache_folder.folder("kind") / "key", b"theirs")
    assert cache_folder.load(cache_folder.folder("kind") / "key") == b"theirs"
    cache_folder.doubt.cache_clear()
    monkeypatch.setattr(cache_folder.os, "geteuid", lambda: os.getuid() + 1)
    assert cache_folder.load(cache_folder.folder("kind") / "key") is None
    assert stored("kind", "key", lambda: b"mine") == b"mine"
    Hunts(cache_folder.folder("hunts") / "journal").add({"operator": ["abs", ""], "failures": []})
    assert Registry(("toywing",)).wings
    cache_folder.doubt.cache_clear()


def test_a_new_cache_is_for_its_owner_alone(tmp_path: Path, fresh_cache: Path) -> None:
    (tmp_path / "m.py").write_text(SHAPES)
    before = os.umask(0)
    try:
        symfix("check", "m.py", cwd=tmp_path, code=1)
    finally:
        os.umask(before)
    assert (fresh_cache / "symfix").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_memory_of_what_was_written_makes_a_file_somebody_elses(
    damage: str, tmp_path: Path, fresh_cache: Path
) -> None:
    patch = tmp_path / "one.patch"
    patch.write_text("-a\n+b\n")
    generated_files.remember(patch)
    assert generated_files.is_own(patch)
    for path in files(fresh_cache):
        path.write_bytes(DAMAGES[damage](path.read_bytes()))
    assert not generated_files.is_own(patch)
    generated_files.remember(patch)
    assert generated_files.is_own(patch)
