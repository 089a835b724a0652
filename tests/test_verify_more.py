"""Tests of additional samples if the first are insufficient, and of requests to the two torches of a proven change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from symfix.codemods.harness.observation import Observation
from symfix.codemods.harness.opinfo_runner import Task
from symfix.codemods.harness.process_limits import Limits
from symfix.codemods.harness.torch_variant import Harness, Variant
from symfix.codemods.torchapi.torch_finder import locate
from symfix.codemods.verify.before_after import Side
from symfix.codemods.verify.build.kernel_libraries import Libraries
from symfix.codemods.verify.change import Check, Verdict, Verification
from symfix.codemods.verify.procedure import Procedure, TorchUnderTest
from symfix.codemods.verify.reproduction import Checks
from symfix.codemods.verify.request import PlacedRequest
from symfix.codemods.verify.unrun_lines import LineCoverage

BLANK = Verification(Verdict.UNVERIFIABLE, "", ())
PASSED, FAILED, LATE = Observation(True), Observation(False, "no"), Observation(False, "late", overtime=True)


class Answered(NamedTuple):
    """Verification with invented results of all operator tests."""

    answer: Verification
    asked: list[tuple[int, set[str]]]
    """Number of samples and names of the protocols of each request."""
    met: list[Sequence[str]]
    """Names of the sides that were passed on."""


def answered(
    monkeypatch: pytest.MonkeyPatch,
    scratch: Path,
    few: tuple[Observation, Observation],
    many: tuple[Observation, Observation],
    idle: Sequence[str],
    far: bool = False,
) -> Answered:
    seen = {4: few, 24: many}
    asked: list[tuple[int, set[str]]] = []
    unrun = iter([idle, ()])

    def operated(itself: Any, tasks: Sequence[Task], samples: int, before: Variant, after: Variant) -> Checks:
        asked.append((samples, {protocol for _, protocol in tasks}))
        return {
            (name, protocol): Check(
                protocol, f"{name} ({samples} samples)", *(seen[samples] if protocol == "unbacked" else (PASSED,) * 2)
            )
            for name, protocol in tasks
        }

    def left(itself: Any, libraries: Libraries | None) -> Iterator[str]:
        yield from next(unrun)

    monkeypatch.setattr(Procedure, "_operated", operated)
    monkeypatch.setattr(LineCoverage, "unrun", left)
    place = locate(None, None)
    laboratory = (_Far if far else Harness)(place.python, scratch, Limits())
    ready = replace(laboratory, limits=Limits(wall=1.0))
    met: list[Sequence[str]] = []

    def proven(before: Side, after: Side) -> None:
        met.append((before.variant.name, after.variant.name))

    procedure = Procedure(laboratory, TorchUnderTest(place), 1, lambda _: None, ready=ready)
    question = PlacedRequest(operators=("op",), protocols=("eager", "unbacked"), samples=4, more=24)
    return Answered(procedure.answer(question, BLANK, proven), asked, met)


class _Far(Harness):
    @property
    def piece(self) -> int:
        return 1


@pytest.mark.parametrize(
    ("few", "idle", "more"),
    [
        ((PASSED, PASSED), (), True),
        ((FAILED, PASSED), ("a.py:3",), True),
        ((FAILED, PASSED), (), False),
        ((PASSED, LATE), (), False),
        ((PASSED, FAILED), ("a.py:3",), False),
    ],
)
def test_more_samples_are_traced_where_few_show_nothing_or_leave_lines_unrun(
    few: tuple[Observation, Observation],
    idle: Sequence[str],
    more: bool,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    said = answered(monkeypatch, tmp_path, few, (FAILED, PASSED), idle)
    assert said.asked[0] == (4, {"eager", "unbacked"})
    assert said.asked[1:] == ([(24, {"unbacked"})] if more else []), "what is called on all samples is known"
    assert sorted(check.protocol for check in said.answer.checks) == ["eager", "unbacked"]
    if more:
        assert said.answer.verdict is Verdict.PROVEN
        assert not said.answer.unrun


def test_both_torches_of_a_proven_change_are_handed_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert answered(monkeypatch, tmp_path, (FAILED, PASSED), (FAILED, PASSED), ()).met == [("before", "after")]


@pytest.mark.parametrize("after", [PASSED, FAILED])
def test_those_of_another_change_are_not(after: Observation, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert answered(monkeypatch, tmp_path, (PASSED, after), (PASSED, after), ()).met == []


def test_those_on_other_machines_are_not(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    said = answered(monkeypatch, tmp_path, (FAILED, PASSED), (FAILED, PASSED), (), far=True)
    assert said.answer.verdict is Verdict.PROVEN
    assert said.met == []
