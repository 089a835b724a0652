"""Tests of sweeps with crashing processes, earlier results, and operator names, without torch."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from symfix.codemods.harness.process_limits import Ended, Limits
from symfix.codemods.harness.torch_variant import Harness, Variant
from symfix.codemods.workflows.hunt.failure import Operator
from symfix.codemods.workflows.hunt.journal import HuntJournal
from symfix.codemods.workflows.hunt.operator_names import UnknownOperator, resolve
from symfix.codemods.workflows.hunt.sweep import HuntRequest, HuntSession, sweep
from symfix.codemods.workflows.hunt.text_report import table
from symfix.codemods.workflows.hunt.workers import NothingRuns, Workers

A, B, C = Operator("a"), Operator("b"), Operator("c", "wide")


class Scripted(Harness):
    """Laboratory whose child runs ``act`` with the request and a function that reports. Its result is the exit."""

    act: Callable[[Mapping[str, Any], Callable[[Any], None]], Ended]

    def ask(
        self, child: str, variant: Variant, request: Mapping[str, Any], report: Path, limits: Limits | None = None
    ) -> tuple[Ended, dict[str, Any]]:
        def say(line: Any) -> None:
            with report.open("a") as file:
                file.write(json.dumps(line) + "\n" if not isinstance(line, str) else line)

        return self.act(request, say), {}


def ended(code: int = 0, timed_out: bool = False, stderr: str = "") -> Ended:
    plain: dict[str, Any] = {
        "seconds": 1.0,
        "cpu": 1.0,
        "peak_kb": 1,
        "left_running": 0,
        "offline": True,
        "stopped": "",
        "walled": True,
    }
    return Ended(command=("python",), code=code, timed_out=timed_out, stdout="", stderr=stderr, **plain)


def row(operator: Operator) -> dict[str, Any]:
    return {"operator": [operator.name, operator.variant], "tried": 1, "failures": [], "untestable": ""}


def swept(
    tmp_path: Path, act: Callable[[Mapping[str, Any], Callable[[Any], None]], Ended], jobs: int = 1
) -> dict[Operator, dict[str, Any]]:
    laboratory = Scripted(Path("python"), tmp_path, Limits(wall=5.0))
    object.__setattr__(laboratory, "act", act)
    told: list[dict[str, Any]] = []
    Workers(laboratory, Variant("installed"), jobs).run([A, B, C], {}, told.append)
    assert len(told) == 3
    return {Operator(*one["operator"]): one for one in told}


def claim(request: Mapping[str, Any]) -> list[Operator]:
    """Claim the first unclaimed operator, as a child does."""
    taken = []
    for number, name in enumerate(request["operators"]):
        try:
            (Path(request["claims"]) / str(number)).touch(exist_ok=False)
        except FileExistsError:
            continue
        taken.append(Operator(*name))
        break
    return taken


def dying_on(victim: Operator, how: Ended) -> Callable[[Mapping[str, Any], Callable[[Any], None]], Ended]:
    def act(request: Mapping[str, Any], say: Callable[[Any], None]) -> Ended:
        say({"operators": 3})
        while taken := claim(request):
            say({"start": [taken[0].name, taken[0].variant]})
            if taken[0] == victim:
                say('{"operator": ["b"')
                return how
            say(row(taken[0]))
        return ended()

    return act


@pytest.mark.parametrize(
    ("how", "said"),
    [
        (ended(-6), "SIGABRT"),
        (ended(1, stderr="Timeout (0:00:20)!\nThread 0x1 (most recent call first):"), "stopped after 20 s"),
        (ended(-27), "stopped after 5 s of processor time"),
        (ended(-9, timed_out=True), "stopped after"),
        (ended(3, stderr="MemoryError"), "exit 3: MemoryError"),
    ],
)
def test_a_process_that_dies_costs_the_operator_it_was_at(tmp_path: Path, how: Ended, said: str) -> None:
    rows = swept(tmp_path, dying_on(B, how))
    assert said in rows[B]["crashed"]
    assert "crashed" not in rows[A]
    assert "crashed" not in rows[C]


def test_several_processes_share_the_operators(tmp_path: Path) -> None:
    assert set(swept(tmp_path, dying_on(Operator("nobody"), ended()), jobs=3)) == {A, B, C}


def test_an_interrupted_sweep_lets_its_processes_claim_nothing_more(tmp_path: Path) -> None:
    def interrupt(row: Mapping[str, Any]) -> None:
        raise KeyboardInterrupt

    laboratory = Scripted(Path("python"), tmp_path, Limits(wall=5.0))
    object.__setattr__(laboratory, "act", dying_on(A, ended(-9)))
    with pytest.raises(KeyboardInterrupt):
        Workers(laboratory, Variant("installed"), 1).run([A, B, C], {}, interrupt)
    (claims,) = tmp_path.glob("claims-*")
    assert {path.name for path in claims.iterdir()} == {"0", "1", "2"}


def test_a_child_that_raises_before_its_first_answer_is_no_failure_of_the_operator(tmp_path: Path) -> None:
    with pytest.raises(NothingRuns, match="KeyError"):
        swept(tmp_path, dying_on(A, ended(1, stderr="Traceback …\nKeyError: 'wall'")))


def test_a_child_that_can_not_start_ends_the_sweep_with_its_words(tmp_path: Path) -> None:
    def act(request: Mapping[str, Any], say: Callable[[Any], None]) -> Ended:
        return ended(1, stderr="Traceback …\nModuleNotFoundError: No module named 'expecttest'\n")

    with pytest.raises(NothingRuns, match=r"No module named .expecttest.; install symfix.verify. there"):
        swept(tmp_path, act)


def test_a_journal_cut_off_in_a_line_keeps_the_lines_before_and_takes_new_ones(tmp_path: Path) -> None:
    path = tmp_path / "kept" / "journal.jsonl"
    first = HuntJournal(path)
    first.add(row(A))
    first.add(row(B))
    path.write_bytes(path.read_bytes()[:-9])
    second = HuntJournal(path)
    assert set(second.rows) == {A}
    second.add(row(C))
    assert set(HuntJournal(path).rows) == {A, C}
    second.forget()
    assert not HuntJournal(path).rows


def test_an_operator_whose_process_died_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Operator] = []

    def run(self: Workers, operators: list[Operator], asked_for: Any, told: Callable[[Any], None]) -> None:
        asked.extend(operators)
        for one in operators:
            told(row(one))

    monkeypatch.setattr(Workers, "run", run)
    monkeypatch.setattr("symfix.codemods.workflows.hunt.sweep.operators_of", lambda laboratory, torch, kind: (A, B))
    journal = HuntJournal(tmp_path / "journal.jsonl")
    journal.add({**row(A), "crashed": "ended by signal SIGKILL"})
    journal.add(row(B))
    assert sweep(HuntRequest(), HuntSession(journal=journal.path)).passed == (A, B)
    assert asked == [A]


def test_stored_results_are_returned_and_nothing_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Workers, "run", lambda *_: pytest.fail("nothing is to be run"))
    monkeypatch.setattr("symfix.codemods.workflows.hunt.sweep.operators_of", lambda laboratory, torch, kind: (A, B, C))
    journal = HuntJournal(tmp_path / "journal.jsonl")
    journal.add(row(A))
    journal.add(row(B))
    found = sweep(HuntRequest(), HuntSession(journal=journal.path, stored=True))
    assert (found.passed, found.not_run) == ((A, B), 1)
    assert list(table(found))[-1].endswith("2 operators, 2 pass, 0 fail, 0 can't be tried; 1 not run yet\n")


def test_a_name_stands_for_its_variants_and_a_full_name_for_itself() -> None:
    known = [Operator("linalg.norm"), Operator("linalg.norm", "wide"), Operator("norm"), Operator("norm", "nuc")]
    assert resolve(["linalg.norm"], known) == known[:2]
    assert resolve(["torch.norm.nuc", "norm"], known) == known[2:]
    assert resolve([Operator("x")], known) == [Operator("x")]


@pytest.mark.parametrize(
    ("word", "hint"), [("nrom", "nearest: norm"), ("matrix_normm", "linalg.matrix_norm"), ("zzzzzz", "named 'zzzzzz'")]
)
def test_an_unknown_name_gets_the_nearest(word: str, hint: str) -> None:
    with pytest.raises(UnknownOperator) as said:
        resolve([word], [Operator("norm"), Operator("linalg.matrix_norm")])
    assert hint in str(said.value)
    assert ("nearest" in str(said.value)) == (word != "zzzzzz")
