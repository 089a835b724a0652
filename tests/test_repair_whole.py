"""Tests of all repairs together. A changed result on concrete sizes is reported, and no request is repeated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from symfix.codemods.harness.opinfo_runner import Answers, Task, ask_all
from symfix.codemods.harness.process_limits import Limits
from symfix.codemods.harness.torch_variant import Harness, Variant
from symfix.codemods.torchapi.torch_finder import locate
from symfix.codemods.verify.before_after import Side, Sides, answer_key
from symfix.codemods.verify.evidence import installed
from symfix.codemods.workflows.hunt.failure import Operator
from symfix.codemods.workflows.repair import regression_check

SUM = b"        return torch.sum(mask_input, dim_, bool(keepdim), dtype=dtype)\n"


def test_another_result_is_told_and_the_torch_before_asked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = locate(None, None)
    text = (place.package / "masked" / "_ops.py").read_bytes()
    assert SUM in text
    changed = tmp_path / "changed.py"
    changed.write_bytes(text.replace(SUM, SUM.replace(b"return", b"return 1 +"), 1))
    after = Variant("repaired", modules={"torch.masked._ops": changed}, identity="one more")
    laboratory = Harness(place.python, tmp_path, Limits(wall=300.0))
    proof = Sides(
        place.build,
        Side(laboratory, Variant("before", identity=installed(place.package))),
        Side(laboratory, after),
        2,
        lambda _: None,
    )
    proof.ask([("masked.amax", "eager")], 4, anew=False)
    asked: list[tuple[str, Task]] = []

    def noting(lab: Harness, variant: Variant, tasks: Sequence[Task], **more: Any) -> Answers:
        asked.extend((variant.name, task) for task in tasks)
        return ask_all(lab, variant, tasks, **more)

    monkeypatch.setattr(regression_check, "ask_all", noting)
    operators = [Operator("masked.sum"), Operator("masked.amax")]
    found, compared = regression_check.no_longer_equal(operators, after, laboratory, place, 1, lambda _: None)
    assert compared == 2
    (said,) = found
    assert said.startswith("eager masked.sum: ")
    first = next(one for one in asked if one[0] == "installed")
    assert first == ("installed", ("masked.sum", "eager"))
    assert ("installed", ("masked.amax", "eager")) not in asked


def test_an_answer_on_concrete_sizes_is_the_same_for_any_number_of_samples() -> None:
    before = Variant("before", identity="installed")
    eager, unbacked = ("add", "eager"), ("add", "unbacked")
    assert answer_key(before, "2.13", eager, 4) == answer_key(before, "2.13", eager)
    assert answer_key(before, "2.13", unbacked, 4) != answer_key(before, "2.13", unbacked, 24)
    assert answer_key(before, "2.13", eager) != answer_key(before, "2.14", eager)
    assert answer_key(before, "2.13", eager) != answer_key(replace(before, identity="edited"), "2.13", eager)
