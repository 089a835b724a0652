"""Tests of speculative trials. Each runs only once, at idle priority."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from symfix.codemods.harness.process_limits import Limits
from symfix.codemods.harness.torch_variant import Harness, Variant
from symfix.codemods.model.edit import Edit
from symfix.codemods.model.rule import Fix, Safety
from symfix.codemods.workflows.repair.groups import AcceptedFix, FixGroup
from symfix.codemods.workflows.repair.journal import TrialJournal
from symfix.codemods.workflows.repair.speculative_trials import Speculation, run_at_idle_priority
from symfix.codemods.workflows.repair.trial_runner import TrialRunner
from symfix.codemods.workflows.repair.trials import Trial, Tried

TORCH = Variant("torch", identity="torch")


def group(*operators: str, fix: int = 0, file: str = "a.py", registers: bool = False) -> FixGroup:
    found = Fix("rule", 2, Safety.UNSAFE, (Edit(fix, fix, b"x"),), f"{operators[0]} {fix}")
    site = SimpleNamespace(path=Path(file), registers=registers)
    return FixGroup((AcceptedFix(SimpleNamespace(site=site), (found,)),), operators)  # type: ignore[arg-type]


@dataclass
class Trying:
    """Replacement for `try_all` that records its trials and waits for permission to continue."""

    crashing: bool = False
    asked: list[tuple[str, bool]] = field(default_factory=list)
    begun: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    go_on: threading.Event = field(default_factory=threading.Event)

    def __call__(self, laboratory: Harness, variant: Variant, names: Mapping[str, int], *_: Any) -> Tried:
        self.asked += [(name, laboratory.limits.aside) for name in names]
        crashed, self.crashing = self.crashing, False
        self.begun.release()
        assert self.go_on.wait(30)
        return Tried({name: Trial(name, "failed" if crashed else "passed", crashed=crashed) for name in names})


@pytest.fixture
def trying() -> Iterator[Trying]:
    made = Trying()
    yield made
    made.go_on.set()


@pytest.fixture
def bench(trying: Trying, tmp_path: Path) -> TrialRunner:
    return TrialRunner(Harness(tmp_path, tmp_path, Limits()), trying, str, None)  # type: ignore[arg-type]


@pytest.mark.parametrize("crashing", [False, True])
def test_who_asks_what_another_thread_asks_waits_for_its_answer(
    crashing: bool, bench: TrialRunner, trying: Trying
) -> None:
    trying.crashing = crashing
    said: list[dict[str, Trial]] = []

    def ask(*names: str) -> threading.Thread:
        thread = threading.Thread(target=lambda: said.append(bench._tried(TORCH, dict.fromkeys(names, -1), 0)))
        thread.start()
        return thread

    first = ask("abs")
    assert trying.begun.acquire(timeout=30)
    second = ask("abs", "add")
    assert trying.begun.acquire(timeout=30)
    trying.go_on.set()
    for thread in (first, second):
        thread.join(30)
    assert trying.asked == [("abs", False), ("add", False), *([("abs", False)] if crashing else [])]
    assert sorted(map(sorted, said)) == [["abs"], ["abs", "add"]]
    assert [one["abs"].passed for one in said].count(False) == crashing, "what met a limit there is tried again"


@pytest.fixture(autouse=True)
def load(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the load of the machine, which a test may change."""
    found = [0.0]
    monkeypatch.setattr("os.getloadavg", lambda: (found[0], 0.0, 0.0))
    return found


def test_nothing_is_tried_ahead_on_a_crowded_machine(
    bench: TrialRunner, load: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    ahead = Speculation(run_at_idle_priority(bench), bool, bool)
    load[0] = 8.5
    ahead.begin([group("abs")], {})
    assert not ahead._begun
    ahead.close()


def test_a_question_is_free_again_when_who_asked_it_failed() -> None:
    journal = TrialJournal(None, "")
    with pytest.raises(OSError, match="no disk"), journal.asking(["a", "b"]) as own:
        assert own == {"a", "b"}
        with journal.asking(["b", "c"]) as others:
            assert others == {"c"}
        raise OSError("no disk")
    journal.wait_for(["a", "b"])
    with journal.asking(["a"]) as own:
        assert own == {"a"}


@pytest.mark.parametrize(
    ("last", "indexes"),
    [
        (group("mul", fix=2), ["functions"]),
        (group("mul", fix=2, registers=True), ["functions", "kernels"]),
        (group("kernel", file="a.cpp"), ["functions", "kernels"]),
    ],
    ids=["Python", "registered", "C++"],
)
def test_groups_are_tried_ahead_and_the_indexes_that_they_need_are_made_behind_them(
    last: FixGroup, indexes: list[str], bench: TrialRunner, trying: Trying, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TrialRunner, "variant", lambda *_: TORCH)
    bench.swapped.add("kernel")
    trying.go_on.set()
    made: list[str] = []
    ahead = Speculation(run_at_idle_priority(bench), partial(made.append, "functions"), partial(made.append, "kernels"))
    for _ in range(2):
        ahead.begin([group("abs"), group("add", "sub", fix=1), last], {})
    for future in list(ahead._begun.values()):
        future.result(30)
    tried = ["abs", "add", "sub", *({*last.operators} - bench.swapped)]
    assert (trying.asked, made) == ([(name, True) for name in tried], indexes)
    assert bench.try_alone({}, [group("abs")])[0]["abs"].passed and len(trying.asked) == len(tried), "it is known"
    ahead.close()


def test_what_has_not_begun_is_forgotten(bench: TrialRunner, trying: Trying, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TrialRunner, "variant", lambda *_: TORCH)
    ahead = Speculation(run_at_idle_priority(bench), bool, bool)
    ahead.begin([group("abs"), group("add")], {})
    assert trying.begun.acquire(timeout=30)
    ahead.begin([group("add", "sub", fix=1)], {})
    trying.go_on.set()
    for future in list(ahead._begun.values()):
        future.result(30)
    ahead.begin([], {})
    ahead.close()
    assert [name for name, _ in trying.asked] == ["abs", "add", "sub"]


def test_who_asks_about_a_group_waits_for_no_more_than_one_operator_of_it(
    bench: TrialRunner, trying: Trying, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TrialRunner, "variant", lambda *_: TORCH)
    ahead = Speculation(run_at_idle_priority(bench), bool, bool)
    ahead.begin([group("add", "sub")], {})
    assert trying.begun.acquire(timeout=30)
    said: list[dict[str, Trial]] = []
    asking = threading.Thread(target=lambda: said.extend(bench.try_alone({}, [group("add", "sub")])))
    asking.start()
    assert trying.begun.acquire(timeout=30), "nobody asks about the other one"
    trying.go_on.set()
    asking.join(30)
    ahead.close()
    assert trying.asked == [("add", True), ("sub", False)]
    assert [sorted(trials) for trials in said] == [["add", "sub"]]
