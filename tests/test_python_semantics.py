"""Tests of generated functions. A safe fix changes nothing for any argument, and no fix changes anything for sizes."""

from __future__ import annotations

import numpy
from concrete import differences, fixed
from generated import MATRICES, TENSORS, VALUES, calls, functions
from hypothesis import HealthCheck, given, settings

ODD = [*TENSORS, None, numpy.ones((2, 3)), 3]
MANY = settings(max_examples=300, derandomize=True, suppress_health_check=list(HealthCheck))


def harm(text: str, *, unsafe: bool) -> list[str]:
    """Return the differences that the fixes of a function cause: for any values, or with unsafe fixes for sizes."""
    after = fixed(text, unsafe=unsafe)
    if after == text:
        return []
    sized = calls(text, MATRICES, [1, 2, 3, 4])
    found = differences(text, after, sized if unsafe else [*sized, *calls(text, ODD, VALUES)])
    told = [one for one in found if not (unsafe and _said_so(one))]
    return [*told, after] if told else []


def _said_so(line: str) -> bool:
    """Return whether an exception kept its type, or was an AssertionError. The text may differ."""
    return line.startswith("call") and ("('AssertionError'" in line or _same_type(line))


def _same_type(line: str) -> bool:
    before, after = line.partition(": ")[2].split(" became ", 1)
    return not before.startswith("('value'") and before.split(",")[0] == after.split(",")[0]


@MANY
@given(functions())
def test_a_safe_fix_changes_nothing_whatever_is_passed(text: str) -> None:
    assert harm(text, unsafe=False) == []


@MANY
@given(functions())
def test_no_fix_changes_anything_on_sizes(text: str) -> None:
    assert harm(text.replace("x.size(n)", "x.size(n % 2)"), unsafe=True) == []
