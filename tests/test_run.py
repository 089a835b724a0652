from __future__ import annotations

import gc
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from goldens import FOLDER
from symfix.codemods.cli import main_group
from symfix.codemods.engine import cache_dependencies
from symfix.codemods.engine.file_discovery import DiscoveredFile, find
from symfix.codemods.engine.fixpoint import FixOptions
from symfix.codemods.engine.registry import Registry
from symfix.codemods.engine.run import FEW_BYTES, CheckRequest, RunReport, run
from symfix.codemods.model.outcome import Changed, Failed, Refused, Unchanged
from symfix.codemods.model.rule import Context
from symfix.cpp.syntax.declarations import Function as CppFunction
from symfix.cpp.syntax.model import Model
from symfix.python.syntax.module import Module
from symfix.python.syntax.tree import FunctionDefinition

NO_TORCH: Any = None
pytestmark = pytest.mark.usefixtures("fresh_cache")


class Surroundings:
    def __init__(self, identity: str = "here") -> None:
        self.identity = identity
        self.asked = 0

    def context(self) -> Context:
        self.asked += 1
        return Context(NO_TORCH)


@pytest.fixture
def question(toy: Registry) -> CheckRequest:
    return CheckRequest(frozenset(card.name for card in toy.rules), FixOptions(), toy)


def folder_of(tmp_path: Path, texts: dict[str, bytes]) -> Path:
    folder = tmp_path / "src"
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
        os.utime(path, (time.time() - 60, time.time() - 60))
    return folder


def over(folder: Path, question: CheckRequest, surroundings: Surroundings | None = None, **how: Any) -> RunReport:
    return run(list(find([folder], frozenset({".toy"}))), question, surroundings or Surroundings(), **how)


def test_outcomes_come_in_path_order_and_silent_files_only_count(tmp_path: Path, question: CheckRequest) -> None:
    folder = folder_of(
        tmp_path, {"b.toy": b"quiet\n", "a.toy": b"silent\n", "c.toy": b"nothing\n", "d.txt": b"quiet\n"}
    )
    report = over(folder, question)
    assert [(type(o), o.source.path.name) for o in report.outcomes if not isinstance(o, (Refused, Failed))] == [
        (Unchanged, "a.toy"),
        (Changed, "b.toy"),
    ]
    assert report.seen == 3


def test_a_named_file_is_answered_even_when_there_is_nothing_to_say(tmp_path: Path, question: CheckRequest) -> None:
    path = folder_of(tmp_path, {"c.toy": b"nothing\n"}) / "c.toy"
    for _ in range(2):
        (outcome,) = run([DiscoveredFile.of(path)], question, Surroundings()).outcomes
        assert isinstance(outcome, Unchanged)
        assert outcome.source.content == b"nothing\n"


def test_a_generated_file_is_told_to_who_names_it_only(tmp_path: Path, question: CheckRequest) -> None:
    folder = folder_of(tmp_path, {"a.toy": b"@generated\nquiet\n"})
    for _ in range(2):
        assert over(folder, question) == RunReport((), 1)
    (outcome,) = run([DiscoveredFile.of(folder / "a.toy")], question, Surroundings()).outcomes
    assert isinstance(outcome, Refused)
    assert outcome.reason == "generated"


def test_a_rule_that_breaks_fails_its_own_file_only(tmp_path: Path, question: CheckRequest) -> None:
    folder = folder_of(tmp_path, {"a.toy": b"crash\n", "b.toy": b"quiet\n"})
    broken, fine = over(folder, question).outcomes
    assert isinstance(broken, Failed)
    assert "toy rule crashed" in broken.detail
    assert isinstance(fine, Changed)


def test_code_that_is_nested_too_deeply_is_no_bug_of_ours(tmp_path: Path, question: CheckRequest) -> None:
    (refused,) = over(folder_of(tmp_path, {"a.toy": b"deep\n"}), question).outcomes
    assert isinstance(refused, Refused)
    assert refused.reason == "nested-too-deeply"


def test_one_process_and_many_say_the_same(
    tmp_path: Path, question: CheckRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    filler = b"words " * (FEW_BYTES // 60)
    texts = {f"{n:02}.toy": b"quiet step%d\n" % (n % 3) * (1 + n * 7 % 5) + filler for n in range(20)}
    folder = folder_of(tmp_path, texts)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "one"))
    one = over(folder, question, jobs=1)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "three"))
    assert over(folder, question, jobs=3) == one
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "threads"))
    with ThreadPoolExecutor(2) as threads:
        assert over(folder, question, executor=threads) == one
    assert len(one.outcomes) == 20


def test_progress_reaches_the_last_file(tmp_path: Path, question: CheckRequest) -> None:
    folder = folder_of(tmp_path, {f"{n}.toy": b"quiet\n" for n in range(5)})
    seen: list[tuple[int, int]] = []
    with ThreadPoolExecutor(2) as threads:
        over(folder, question, executor=threads, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (5, 5)


def test_a_second_run_asks_no_rule_and_answers_the_same(tmp_path: Path, question: CheckRequest) -> None:
    texts = {"a.toy": b"quiet step2 muted\n", "b.toy": b"silent", "c.toy": b"-", "d.toy": b"quiet\0"}
    folder = folder_of(tmp_path, texts)
    first, second = Surroundings(), Surroundings()
    before = over(folder, question, first)
    assert over(folder, question, second) == before
    assert (first.asked, second.asked) == (1, 0)
    assert [type(outcome) for outcome in before.outcomes] == [Changed, Unchanged, Refused]


def test_the_same_file_by_another_name_is_known(
    tmp_path: Path, question: CheckRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = folder_of(tmp_path, {"a.toy": b"quiet\n"})
    over(folder, question)
    monkeypatch.chdir(folder)
    again = Surroundings()
    (outcome,) = over(Path(), question, again).outcomes
    assert again.asked == 0
    assert isinstance(outcome, Changed)
    assert outcome.source.path == Path("a.toy")


def test_rules_see_where_a_file_lives(tmp_path: Path, question: CheckRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = folder_of(tmp_path, {"a.toy": b"where\n"})
    monkeypatch.chdir(folder)
    (outcome,) = over(Path(), question).outcomes
    assert isinstance(outcome, Unchanged)
    assert outcome.source.path == Path("a.toy")
    assert outcome.skips[0].detail == str(folder / "a.toy")


def test_a_touched_file_is_known_by_its_bytes(tmp_path: Path, question: CheckRequest) -> None:
    folder = folder_of(tmp_path, {"a.toy": b"quiet\n"})
    before = over(folder, question)
    os.utime(folder / "a.toy")
    again = Surroundings()
    assert over(folder, question, again) == before
    assert again.asked == 0


def test_a_file_written_within_the_clocks_tick_is_read_again(tmp_path: Path, question: CheckRequest) -> None:
    path = folder_of(tmp_path, {}) / "a.toy"
    path.parent.mkdir()
    path.write_bytes(b"quiet\n")
    stat = path.stat()
    assert isinstance(over(path.parent, question).outcomes[0], Changed)
    path.write_bytes(b"calm.\n")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert over(path.parent, question).outcomes == ()


def test_a_changed_file_is_asked_again(tmp_path: Path, question: CheckRequest) -> None:
    folder = folder_of(tmp_path, {"a.toy": b"quiet\n"})
    over(folder, question)
    (folder / "a.toy").write_bytes(b"quiet quiet\n")
    (outcome,) = over(folder, question).outcomes
    assert isinstance(outcome, Changed)
    assert len(outcome.applied) == 2


@pytest.mark.parametrize("what", ["wishes", "rules", "surroundings", "settings"])
def test_another_question_is_another_answer(tmp_path: Path, question: CheckRequest, what: str) -> None:
    folder = folder_of(tmp_path, {"a.toy": b"muted quiet\n"})
    over(folder, question)
    again = Surroundings("elsewhere" if what == "surroundings" else "here")
    if what == "wishes":
        question = CheckRequest(question.rules, FixOptions(unsafe=True), question.registry)
    elif what == "rules":
        question = CheckRequest(frozenset({"grow"}), question.wishes, question.registry)
        (folder / "a.toy").write_bytes(b"muted quiet step1\n")
    elif what == "settings":
        (tmp_path / "other" / "src").mkdir(parents=True)
        (tmp_path / "other" / ".toy-format").write_text("loud")
        folder = folder.rename(tmp_path / "other" / "src")
    over(folder, question, again)
    assert again.asked == 1


@pytest.mark.parametrize("text", [b"quiet\n", b"muted\n", b"silence\n"])
def test_a_word_elsewhere_in_the_package_is_another_answer(tmp_path: Path, question: CheckRequest, text: bytes) -> None:
    folder = folder_of(tmp_path, {"__init__.py": b"", "inner/__init__.py": b"", "inner/a.toy": text})
    before = over(folder, question)
    (folder / "b.toy").write_bytes(b"it is spoken here\n")
    for kept in (cache_dependencies._package, cache_dependencies._speaks):
        kept.cache_clear()
    again = Surroundings()
    over(folder, question, again)
    # Without findings, the words of the package do not matter.
    assert again.asked == (1 if before.outcomes else 0)


def test_a_failure_is_met_again(tmp_path: Path, question: CheckRequest) -> None:
    folder = folder_of(tmp_path, {"a.toy": b"crash\n"})
    over(folder, question)
    again = Surroundings()
    assert isinstance(over(folder, question, again).outcomes[0], Failed)
    assert again.asked == 1


def test_a_cache_that_is_not_one_is_ignored(tmp_path: Path, fresh_cache: Path, question: CheckRequest) -> None:
    folder = folder_of(tmp_path, {"a.toy": b"quiet\n"})
    before = over(folder, question)
    stored = [path for path in fresh_cache.rglob("*") if path.is_file()]
    assert stored
    for path in stored:
        path.write_bytes(b"\x80\x05garbage")
    assert over(folder, question) == before


def test_given_content_is_examined_and_not_stored(tmp_path: Path, question: CheckRequest) -> None:
    path = folder_of(tmp_path, {"a.toy": b"calm.\n"}) / "a.toy"
    (outcome,) = run([DiscoveredFile.of(path, b"quiet\n")], question, Surroundings()).outcomes
    assert isinstance(outcome, Changed)
    assert over(path.parent, question).outcomes == ()


def test_folders_stand_for_the_files_one_would_rewrite(tmp_path: Path) -> None:
    names = [
        "a.toy",
        "sub/b.toy",
        "third_party/c.toy",
        ".hidden/d.toy",
        "test/e.toy",
        "test_f.toy",
        "g_test.toy",
        "h.py",
    ]
    folder = folder_of(tmp_path, dict.fromkeys(names, b""))
    found = [target.path.relative_to(folder).as_posix() for target in find([folder], frozenset({".toy"}))]
    assert found == ["a.toy", "sub/b.toy"]
    inside = [target.path.name for target in find([folder / "test", folder / "a.toy"], frozenset({".toy"}))]
    assert inside == ["a.toy", "e.toy"]


def test_a_file_said_twice_is_one_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = folder_of(tmp_path, {"a.toy": b""})
    monkeypatch.chdir(folder)
    paths = [Path("a.toy"), folder / "a.toy", Path()]
    assert [(target.path, target.named) for target in find(paths, frozenset({".toy"}))] == [(folder / "a.toy", True)]


MODELS = (Model, CppFunction, Module, FunctionDefinition)


@pytest.mark.parametrize("pattern", ["use_sym_sizes/*.before.cpp", "use_torch_check/*.before.py"])
def test_no_model_of_a_file_holds_itself(pattern: str) -> None:
    gc.collect()
    gc.disable()
    try:
        for path in FOLDER.glob(pattern):
            assert CliRunner().invoke(main_group, ["check", "-j", "1", str(path)]).exit_code in (0, 1)
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        left = {type(one).__name__ for one in gc.garbage if isinstance(one, MODELS)}
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert not left


def test_a_rule_about_registered_functions_is_asked_about_files_that_register_some() -> None:
    def concerns(text: bytes, *, all_functions: bool = False) -> bool:
        question = CheckRequest(frozenset({"use_size_for_len"}), all_functions=all_functions)
        return question.concerns(text, question.registry.suffixes[".py"])

    measured = b"def f(x):\n    return len(x)\n"
    assert not concerns(measured)
    assert concerns(measured, all_functions=True)
    assert not concerns(b"an implementation\nimplies = 1\n" + measured)
    assert not concerns(b'lib.impl("f", f, "Meta")\n', all_functions=True)
    for registering in (b'lib.impl("f", f, "Meta")', b"from torch.library import impl as i", b"register_fake('f')(f)"):
        assert concerns(registering + b"\n" + measured)
    both = CheckRequest(frozenset({"use_size_for_len", "clamp_sizes"}), all_functions=False)
    assert both.concerns(b"x.shape", both.registry.suffixes[".py"])
