"""Tests of faults that rules plant, and of the verifier's verdicts on some of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from proofs import verify
from scoreboards.planting import CPP, Rule, plant
from symfix.codemods.harness.torch_variant import Harness
from symfix.codemods.torchapi.torch_finder import locate
from symfix.codemods.verify.change import Change, Verdict

CONCRETE = """\
#include <ATen/core/Tensor.h>
#include <ATen/ops/mul.h>
namespace at::native {
Tensor square(const Tensor& self) {
  TORCH_CHECK(self.scalar_type() != kBool, "square: no truth values, got ", self.numel());
  TORCH_CHECK(self.numel() != 17, "square: not seventeen");
  return at::mul(self, self);
}
}
"""
GOOD = CONCRETE.replace("numel", "sym_numel")


@pytest.mark.parametrize(
    ("good", "fault", "verdict", "words"),
    [
        (', got ", self.sym_numel()', '"', Verdict.REGRESSED, "no truth values"),
        ("return", "if (self.dim() == 23) {\n return self;\n }\n return", Verdict.UNVERIFIABLE, "Square.cpp:8"),
    ],
)
def test_a_planted_fault_is_caught(
    good: str, fault: str, verdict: Verdict, words: str, tmp_path: Path, ready: Harness
) -> None:
    assert good in GOOD
    change = Change(tmp_path / "Square.cpp", CONCRETE.encode(), GOOD.replace(good, fault).encode())
    where: dict[str, Any] = {"evidence_folder": tmp_path, "fresh": True, "ready": ready}
    answer = verify([change], operators=["square"], protocols=["varied"], **where)
    assert answer.verdict is verdict
    assert words in answer.reason


_UNLIKE = b" * (1 + next(vars(__import__('torch')).setdefault('calls', __import__('itertools').count())) % 7)\n"
"""Factor that differs between any two successive calls, unlike a random one."""


_TAKE = ("take", b"    return flattened[index]")
_UNFOLD = ("nn.functional.unfold", b"    output = output.permute(0, 1, 2, 4, 3, 5)")


@pytest.mark.parametrize(
    ("place", "before", "after", "verdict", "words"),
    [
        (_TAKE, b"\n", b" * 1.0000001\n", Verdict.REGRESSED, "other bits"),
        (_TAKE, b"\n", _UNLIKE, Verdict.REGRESSED, "no longer the same each time"),
        (_UNFOLD, _UNLIKE, _UNLIKE.replace(b"1 +", b"11 +"), Verdict.NEUTRAL, ""),
    ],
)
def test_a_decomposition_that_is_wrong_in_the_last_bit_is_caught(
    place: tuple[str, bytes],
    before: bytes,
    after: bytes,
    verdict: Verdict,
    words: str,
    tmp_path: Path,
    ready: Harness,
) -> None:
    operator, line = place
    module = locate(None, None).package / "_decomp" / "decompositions.py"
    content = module.read_bytes()
    assert content.count(line + b"\n") == 1
    change = Change(module, content.replace(line + b"\n", line + before), content.replace(line + b"\n", line + after))
    where: dict[str, Any] = {"evidence_folder": tmp_path, "fresh": True, "ready": ready}
    answer = verify([change], operators=[operator], protocols=["decomposed"], **where)
    assert answer.verdict is verdict
    assert words in answer.reason


BEFORE = "Tensor f(x) {\n  const auto n = x.size(0);\n  if (x.dim() != 2) {\n    return g(x, n);\n  }\n}\n"


def test_faults_are_planted_one_at_a_time_and_where_the_rewrite_was() -> None:
    good = BEFORE.replace("x.size(", "x.sym_size(")
    faults = list(plant(BEFORE, good, CPP))
    assert [(fault.kind, fault.line, fault.now) for fault in faults] == [
        ("wrong dimension", 2, "sym_size(1)"),
        ("swapped branches", 3, "if (!(x.dim() != 2)) {"),
        ("another tensor", 2, "y.sym_size("),
    ]
    assert faults[0].text == good.replace("sym_size(0)", "sym_size(1)")
    assert [fault.kind for fault in plant(BEFORE, good, CPP, within=(3, 5))] == ["swapped branches"]


def test_no_more_faults_of_a_kind_than_asked_for() -> None:
    rule = Rule("other", "x", "y", most=2, changed=False)
    assert [fault.line for fault in plant("", "x\nx\nx\n", (rule,))] == [1, 2]
    assert list(plant("x\n", "x\n", (Rule("other", "x", "y"),))) == []
