"""Tests of ``hunt --fuzz``, which draws calls around an operator's samples."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from indexes import cache_with_indexes
from running import symfix
from symfix.codemods.harness.children.entrypoints import fuzz_runner
from symfix.codemods.harness.children.samples.call_plans import (
    CONSUMERS,
    MARKS,
    VIEWS,
    CallPlan,
    Planned,
    View,
    call_named,
    name_of,
    planned,
    samples_around,
)
from symfix.codemods.harness.children.samples.samples import Sample
from symfix.codemods.harness.process_limits import Limits
from symfix.codemods.harness.resilient_batch import Batch
from symfix.codemods.harness.torch_variant import Harness
from symfix.codemods.workflows.hunt.failure import Failure, Mode, Operator
from symfix.codemods.workflows.hunt.failure_attribution import DIED
from symfix.codemods.workflows.hunt.fuzz import Fuzz, _run, _told_once, fuzz
from symfix.codemods.workflows.hunt.journal import HuntJournal
from symfix.codemods.workflows.hunt.sweep import Sweep

ADD = Sample(torch.add, (torch.arange(12.0).reshape(3, 4), torch.arange(4.0)), {"alpha": 2})


@pytest.mark.parametrize("kind", VIEWS)
@pytest.mark.parametrize("dimension", [0, 1])
def test_a_view_is_undone_beforehand(kind: str, dimension: int) -> None:
    call = Planned(CallPlan(0, (View(kind, 0, dimension, dimension + 1),), "", ("static",)), ADD)
    assert call.call().shape == ADD.call().shape
    (leaves, extras), _ = call.inputs()
    assert leaves[0].shape != (3, 4) or extras, "the input is another one"
    if kind != "expand":
        assert torch.equal(call.call(), ADD.call())


@pytest.mark.parametrize("consumer", CONSUMERS)
def test_a_consumer_stands_behind(consumer: str) -> None:
    call = planned(CallPlan(5, (), consumer, ("unbacked",)), [ADD])
    assert torch.equal(call.call(), CONSUMERS[consumer](ADD.call()))
    assert consumer in call.words


def test_each_dimension_has_its_mark() -> None:
    call = Planned(CallPlan(0, (), "", MARKS), ADD)
    assert call.words == "float32[3, 4 backed], float32[4 unbacked]"
    seen: list[Any] = []
    call.call(lambda leaves, extras: seen.extend(leaves[:2]), unbacked=True)
    assert [getattr(one, "_dynamo_unbacked_indices", set()) for one in seen] == [set(), {0}]
    shared = Planned(CallPlan(0, (), "", ("shared",)), ADD)
    shared.call(lambda leaves, extras: seen.extend(leaves[:2]), unbacked=True)
    assert seen[-2]._dynamo_shape_ids[1] == seen[-1]._dynamo_shape_ids[0] != seen[-2]._dynamo_shape_ids[0]


@pytest.mark.parametrize(
    "plan",
    [
        CallPlan(0, (), "", ("static",)),
        CallPlan(3, (View("slice", 0, 1, 2), View("mask", 1, 0, 0)), "sum(-1)", ("unbacked", "shared", "backed"), 0),
        CallPlan(7, (View("transpose", 0, 1, 0),), "", ("unbacked",), 5),
    ],
)
def test_the_name_of_a_call_says_it_all(plan: CallPlan) -> None:
    name = name_of("linalg.norm.subgradients", plan)
    again = call_named(name, {"linalg.norm.subgradients": Faulty})
    made = planned(plan, samples_around(Faulty))
    assert again.words == made.words and again._plan == plan
    assert torch.equal(again.call(), made.call())
    assert again.resizable is (plan.marks != ("static",))


def test_sizes_are_changed_together() -> None:
    call = planned(CallPlan(0, (), "", ("unbacked",), size=1), [ADD])
    assert call.call().shape == (3, 1), "the largest size is 1 now, in both"
    assert call.sized(lambda size: size + 1).call().shape == (4, 2)


def row(condition: str, line: int, **more: Any) -> dict[str, Any]:
    frames = [{"file": "/x/torch/fx/a.py", "line": 1}, {"file": "/x/torch/_refs/__init__.py", "line": line}]
    return {"type": "E", "text": "", "condition": condition, "frames": frames, "native": [], **more}


def test_a_bucket_is_a_place_and_an_expression() -> None:
    one = fuzz_runner.bucket_of(row("Eq(u0, 1)", 7))
    assert one == fuzz_runner.bucket_of(row("Eq(u5, 1)", 7))
    assert len({one, fuzz_runner.bucket_of(row("Eq(u0, 1)", 8)), fuzz_runner.bucket_of(row("Eq(u0, 0)", 7))}) == 3
    assert one != fuzz_runner.bucket_of({"deviation": "at larger: other values"})


class Faulty:
    """Fake OpInfo."""

    name, variant_test_name = "faulty", ""
    dtypes = frozenset({torch.float32})

    @staticmethod
    def op(x: Any) -> Any:
        return x * 2

    @staticmethod
    def sample_inputs(*_: Any, **__: Any) -> Any:
        return [SimpleNamespace(input=torch.ones(4, 6), args=(), kwargs={})]


def test_a_failure_is_shrunk_to_what_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    def said(plan: CallPlan, samples: list[Any]) -> dict[str, Any] | None:
        kinds = [view.kind for view in plan.views]
        needed = "slice" in kinds and plan.consumer and "unbacked" in plan.marks
        return row("Eq(u0, 1)", 3) if needed else row("Eq(u0, 0)", 9) if "mask" in kinds else None

    monkeypatch.setattr(fuzz_runner, "_said", said)
    fuzzed = fuzz_runner.PlanResults(Faulty, 1, 60.0)
    fuzzed.draw(200)
    found = {one["condition"]: one["call"] for one in fuzzed.failures()}
    assert found.keys() == {"Eq(u0, 1)", "Eq(u0, 0)"}
    assert found["Eq(u0, 1)"] == "faulty@0,slice.0.0.0,unbacked,then1"
    again = fuzz_runner.PlanResults(Faulty, 1, 60.0)
    again.draw(200)
    assert list(again.failures()) == list(fuzzed.failures()), "the same seed, the same failures"
    other = fuzz_runner.PlanResults(Faulty, 2, 60.0)
    other.draw(200)
    assert other._known.keys() != again._known.keys()


def test_time_that_is_over_ends_the_drawing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz_runner, "_said", lambda plan, samples: row("", 1))
    fuzzed = fuzz_runner.PlanResults(Faulty, 1, -1.0)
    fuzzed.draw(50)
    assert fuzzed.tried == 0 and not list(fuzzed.failures())


def test_a_call_that_kills_its_process_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def said(plan: CallPlan, samples: list[Any]) -> dict[str, Any] | None:
        if plan.views:
            os.kill(os.getpid(), signal.SIGSEGV)
        return row("Eq(u0, 0)", 9) if plan.consumer else None

    monkeypatch.setattr(fuzz_runner, "_said", said)
    fuzzed = fuzz_runner.PlanResults(Faulty, 1, 60.0, fuzz_runner._apart)
    fuzzed.draw(40)
    found = {one["type"]: one for one in fuzzed.failures()}
    assert found.keys() == {"ProcessDied", "E"}, "what does not die is told as ever"
    died = found["ProcessDied"]
    assert died["text"] == "SIGSEGV" and died["call"].count(".") == 3 and "then" not in died["call"]
    assert died["arguments"].startswith("float32[")


def test_what_dies_in_eager_too_is_told_so() -> None:
    def dies(x: Any) -> Any:
        os.kill(os.getpid(), signal.SIGFPE)

    said = fuzz_runner._apart(CallPlan(0, (), "", ("unbacked",)), [Sample(dies, (torch.ones(4, 6),), {})])
    assert said is not None and said["text"] == "SIGFPE, in eager too"


def test_torch_is_fuzzed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache_with_indexes(tmp_path / "cache")))
    found = fuzz(["abs", "t"], Fuzz(4, seed=3), Sweep("unbacked", ""), jobs=1)
    assert found.calls >= 8 and not found.late and not found.sweep.untestable
    assert len(found.sweep.passed) + len(found.sweep.failed) == 2
    assert fuzz(["abs", "t"], Fuzz(4, seed=3), Sweep("unbacked", ""), jobs=1).sweep.recalled == 2
    late = fuzz(["abs", "t"], Fuzz(4, seed=4, minutes=-1.0), Sweep("unbacked", ""), jobs=1)
    assert [str(one) for one in late.late] == ["abs", "t"] and not late.calls


def test_who_interrupts_a_fuzz_keeps_what_was_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"operator": ["abs", ""], "tried": 4, "failures": [], "untestable": ""}

    def interrupted(batch: Batch[Any, Any], *_: Any) -> Any:
        report = tmp_path / "report"
        report.write_text(f'{json.dumps(said)}\n{{"start": ["t", ""]}}\n{{"operator": ["t", ""], "la')
        batch.on_report(report)
        raise KeyboardInterrupt

    monkeypatch.setattr("symfix.codemods.workflows.hunt.fuzz.Batch.run_shared", interrupted)
    laboratory = Harness(Path("python"), tmp_path, Limits())
    operators = [Operator("abs"), Operator("t")]
    with pytest.raises(KeyboardInterrupt):
        _run(laboratory, operators, {}, 1.0, 1, HuntJournal(tmp_path / "kept"), lambda done, total: None)
    assert HuntJournal(tmp_path / "kept").rows == {Operator("abs"): said}


def test_what_is_the_same_is_told_once() -> None:
    def failing(name: str, message: str, why: str = "") -> Failure:
        return Failure(Operator(name), "fuzz", Mode.UNKNOWN, message, "", None, 0, why=why)

    told = "AssertionError: Guard failed on the same frame it was created. 0/"
    died = DIED
    found = [failing("a", told + "1"), failing("b", told + "2"), failing("c", "KeyError"), failing("d", "x", died)]
    found.append(failing("e", "x", died))
    assert [one.operator.name for one in _told_once(found)] == ["a", "c", "d", "e"]


def test_what_does_not_go_together_is_said(tmp_path: Path) -> None:
    said = symfix("hunt", "--fuzz", "3", "--protocol", "backed", "abs", cwd=tmp_path, code=2).stderr
    assert "--fuzz goes with none" in said
