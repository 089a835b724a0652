"""Tests of the schedule of proofs. Each group is proven once, the first ones during the search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest
from symfix.codemods.model.edit import Edit
from symfix.codemods.model.rule import Fix, Safety
from symfix.codemods.workflows.repair.groups import AcceptedFix, FixGroup
from symfix.codemods.workflows.repair.phase_times import Timing
from symfix.codemods.workflows.repair.proof_scheduler import Proofs
from symfix.codemods.workflows.repair.result import Repair
from symfix.codemods.workflows.repair.trials import Trial


def group(*operators: str, fix: int = 0) -> FixGroup:
    found = Fix("rule", 2, Safety.UNSAFE, (Edit(fix, fix, b"x"),), f"{operators[0]} {fix}")
    return FixGroup((AcceptedFix(SimpleNamespace(), (found,)),), operators)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Proving:
    """Replacement for a `Prover` that logs each group with its number of processes and waits for permission."""

    jobs: int = 2
    executor: Executor | None = None
    log: list[tuple[str, int]] = field(default_factory=list)
    begun: Event = field(default_factory=Event)
    go_on: Event = field(default_factory=Event)

    def repair(
        self, one: FixGroup, drafts: Mapping[Path, Any], first: Mapping[str, Trial], passing: Any = ()
    ) -> Repair:
        fixes = tuple(fix for member in one.members for fix in member.fixes)
        return Repair(one.operators[0], one.operators, {}, {}, (), (), fixes, (), "torch", passing=passing)

    def prove(self, made: Repair, overtime: Sequence[str] = ()) -> Repair:
        self.log.append((made.name, self.jobs))
        self.begun.set()
        assert self.go_on.wait(30)
        return replace(made, doubt=f"overtime: {overtime}")


def search_of(found: Sequence[FixGroup], lost: Sequence[str] = (), late: Sequence[str] = ()) -> Any:
    """Return the result of a search: its groups, operators that fail separately, and those over a time limit."""
    names = [name for one in found for name in one.operators]

    def try_alone(drafts: Any, asked: Sequence[FixGroup]) -> list[dict[str, Trial]]:
        def trial(name: str) -> Trial:
            return Trial(name, "failed" if name in lost or name in late else "passed", crashed=name in late)

        return [{name: trial(name) for name in one.operators} for one in asked]

    return SimpleNamespace(
        trials={name: Trial(name, "passed") for name in names},
        chains={},
        drafts={},
        grouping=lambda chains, passing: list(found),
        bench=SimpleNamespace(try_alone=try_alone),
    )


@pytest.fixture
def proving() -> Proving:
    return Proving()


@pytest.fixture
def proofs(proving: Proving) -> Iterator[Proofs]:
    timing = Timing()
    timing.operators |= {"short": 1.0, "long": 9.0, "middle": 5.0}
    made = Proofs(proving, {}, timing, lambda _: None)  # type: ignore[arg-type]
    yield made
    proving.go_on.set()
    made.close()


def test_what_is_proven_beside_the_search_is_not_proven_again(proofs: Proofs, proving: Proving) -> None:
    found = [group("short"), group("long"), group("middle")]
    proving.go_on.set()
    proofs.begin(found, {})
    for future in list(proofs._begun.values()):
        future.result(30)
    assert proving.log == [("long", 1), ("middle", 1), ("short", 1)]
    assert [one.name for one in proofs.repairs(search_of(found))] == ["short", "long", "middle"]
    assert len(proving.log) == 3


def test_what_waits_is_forgotten_and_what_runs_is_waited_for(proofs: Proofs, proving: Proving) -> None:
    proofs.begin([group("short"), group("long"), group("middle")], {})
    assert proving.begun.wait(30)
    joined = group("short", "middle", fix=1)
    proofs.begin([group("long"), joined], {})
    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(proofs.repairs, search_of([group("long"), joined]))
        proving.go_on.set()
        repairs = ended.result(30)
    assert [one.operators for one in repairs] == [("long",), ("short", "middle")]
    assert sorted(proving.log) == [("long", 1), ("short", 1)]


def test_a_group_that_became_another_one_is_proven_as_that(proofs: Proofs, proving: Proving) -> None:
    proving.go_on.set()
    proofs.begin([group("short")], {})
    assert next(iter(proofs._begun.values())).result(30).name == "short"
    (repair,) = proofs.repairs(search_of([group("short", fix=7)]))
    assert repair.fixes[0].edits[0].start == 7
    assert proving.log == [("short", 1), ("short", 2)]


def test_where_none_is_as_long_as_the_others_together_each_has_one_process(proofs: Proofs, proving: Proving) -> None:
    proving.go_on.set()
    proofs.timing.operators["middle"] = 8.5
    proofs.repairs(search_of([group("short"), group("long"), group("middle")]))
    assert sorted(proving.log) == [("long", 1), ("middle", 1), ("short", 1)]


def test_the_longest_has_all_processes_where_nothing_runs_beside_it(proofs: Proofs, proving: Proving) -> None:
    proving.go_on.set()
    repairs = proofs.repairs(search_of([group("short"), group("long"), group("middle")]))
    assert [one.name for one in repairs] == ["short", "long", "middle"]
    assert proving.log[0] == ("long", 2) and sorted(proving.log[1:]) == [("middle", 1), ("short", 1)]
    assert proofs.timing.phases["proofs"] > 0


def test_what_passes_nowhere_alone_is_not_proven_but_what_took_too_long_is(proofs: Proofs, proving: Proving) -> None:
    proving.go_on.set()
    search = search_of(
        [group("short", "long"), group("middle"), group("slow")], lost=("long", "middle"), late=("slow",)
    )
    some, none, late = proofs.repairs(search)
    assert some.operators == some.passing == ("short",)
    assert none.doubt.startswith("alone, without the other repairs")
    assert late.doubt == "overtime: ('slow',)" and late.passing == ()
    assert sorted(name for name, _ in proving.log) == ["short", "slow"]


def test_a_cluster_proves_one_group_after_the_other_and_none_beside_the_search() -> None:
    with ThreadPoolExecutor(1) as pool:
        proving = Proving(executor=pool)
        proving.go_on.set()
        proofs = Proofs(proving, {}, Timing(), lambda _: None)  # type: ignore[arg-type]
        proofs.begin([group("short")], {})
        assert proving.log == []
        proofs.repairs(search_of([group("short"), group("long")]))
        proofs.close()
    assert proving.log == [("short", 2), ("long", 2)]


def test_what_fails_in_a_proof_beside_the_search_is_said_at_its_end() -> None:
    class Failing(Proving):
        def prove(self, made: Repair, overtime: Sequence[str] = ()) -> Repair:
            raise OSError("no room")

    proofs = Proofs(Failing(), {}, Timing(), lambda _: None)  # type: ignore[arg-type]
    proofs.begin([group("short")], {})
    with pytest.raises(OSError, match="no room"):
        proofs.repairs(search_of([group("short")]))
    proofs.close()
