"""Tests of calls between modules: one fix makes few of them, and no two modules of a wing call each other."""

from __future__ import annotations

from typing import Any

import pytest
from scoreboards.crossings import SAMPLES, Sample, circles, crossings, in_goldens, of_one_fix

MOST = {"use_sym_sizes": 70, "guard_size_branches": 55, "use_torch_check": 70}
"""Largest number of calls between modules for a fix of each rule. The limits may only become smaller."""


@pytest.mark.parametrize("sample", [pytest.param(one, id=one.rule) for one in SAMPLES])
def test_one_fix_crosses_few_boundaries(sample: Sample) -> None:
    found = of_one_fix(sample)
    assert 0 < found.total() <= MOST[sample.rule], found.most_common(10)


@pytest.mark.parametrize("wing", ["cpp", "python"])
def test_no_two_modules_of_a_wing_call_each_other(wing: str) -> None:
    found = in_goldens(f"symfix.{wing}")
    assert found
    assert not circles(found)


def test_a_call_between_modules_is_counted_and_one_within_is_not() -> None:
    one: dict[str, Any] = {"__name__": "wing.one"}
    two: dict[str, Any] = {"__name__": "wing.two"}
    exec("def far(): return list(there())\ndef near(): return within()\ndef within(): return 1", one)
    exec("def there():\n    yield near()\n    yield 2", two)
    one["there"], two["near"] = two["there"], one["near"]
    found = crossings("wing", one["far"])
    assert found == {("one", "two", "there"): 3, ("two", "one", "near"): 1}
    assert circles(found) == {("one", "two")}
    assert not crossings("another", one["far"])
