"""Tests of captures of goldens. A call that torch traces before a rule is traced after it."""

from __future__ import annotations

import pytest
from goldens import Golden, goldens
from tracing import traced

UNTRACED = {"use_floor_div"}
"""Rules for Inductor's lowerings, which run behind all tracers and compute with ``sympy``."""
OBSERVED = [
    golden
    for golden in goldens()
    if golden.after and golden.card.name not in UNTRACED and b"def observe(" in golden.before.read_bytes()
]
UNCALLED = {"migrate_definitely_true", "migrate_inductor_sizevars"}
"""Rules whose goldens call functions that the installed torch has removed, or Inductor's internals."""


@pytest.mark.parametrize("golden", [pytest.param(golden, id=golden.name) for golden in OBSERVED])
def test_a_rule_loses_no_capture(golden: Golden) -> None:
    found = list(traced(golden))
    assert found, "observe() calls no function of the golden"
    assert [reason for call in found for reason in call.lost] == []


def test_every_python_golden_that_can_be_called_is_traced() -> None:
    pairs = [golden for golden in goldens() if golden.after and golden.before.suffix == ".py"]
    assert {golden.card.name for golden in pairs if golden not in OBSERVED} == UNCALLED | UNTRACED
