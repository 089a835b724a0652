"""Tests of a backward pass, a lowering and a module of torch, from the failure to a proven change."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from proofs import verify
from symfix.codemods.engine.registry import Registry
from symfix.codemods.engine.torch_context import TorchSurroundings
from symfix.codemods.harness.process_limits import Limits
from symfix.codemods.harness.torch_variant import Harness
from symfix.codemods.verify.build.modules import module_name
from symfix.codemods.verify.change import Change, Verdict
from symfix.codemods.workflows.repair.candidate_search import Search
from symfix.codemods.workflows.repair.candidates import CandidateSources
from symfix.codemods.workflows.repair.trial_runner import TrialRunner
from symfix.codemods.workflows.repair.trials import try_all


@pytest.mark.parametrize(
    ("kind", "protocol", "name", "tasks", "after"),
    [
        (
            "operators",
            "backward",
            "nn.functional.logsigmoid",
            ("backward",),
            b"z = buffer if guard_or_true(buffer.numel() > 0) else torch.exp(-torch.abs(self))",
        ),
        ("operators", "inductor", "nn.functional.glu", ("inductor",), b"new_len = FloorDiv(x.get_size()[dim], 2)"),
        ("modules", "unbacked", "nn.MSELoss", ("modules unbacked", "modules eager"), b"_warn_unless_same_size"),
    ],
)
def test_a_failure_is_mended_and_proven(
    kind: str, protocol: str, name: str, tasks: tuple[str, ...], after: bytes, tmp_path: Path, ready: Harness
) -> None:
    surroundings = TorchSurroundings()
    place, context = surroundings.place, surroundings.context()
    laboratory = Harness(place.python, tmp_path, Limits(wall=600.0))
    advisors = CandidateSources(Registry(), lambda _: context)
    tries = partial(try_all, kind=kind, protocol=protocol, site=place.package.parent)
    bench = TrialRunner(
        laboratory, tries, lambda path: module_name(path, [place.package.parent]), advisors, jobs=1, quick=ready
    )
    first = bench.try_on({}, {name: -1}).trials
    assert first[name].verdict == "failed"
    search = Search(advisors, bench, {}, dict(first))
    search.run(4, lambda _: None)
    assert search.trials[name].passed, search.trials[name].message
    changes = [Change(path, one.source.content, one.now.content) for path, one in search.drafts.items() if one.taken]
    assert any(after in change.after for change in changes)
    asked = [(name, task) for task in tasks]
    beside = ("nn.functional.mse_loss",) if kind == "modules" else ()
    proof = verify(
        changes,
        operators=beside,
        protocols=("eager", "varied"),
        tasks=asked,
        samples=4,
        jobs=1,
        evidence_folder=tmp_path / "evidence",
        ready=ready,
    )
    assert proof.verdict is Verdict.PROVEN, proof.reason
    assert [check.protocol for check in proof.checks if check.gained] == [tasks[0]]
