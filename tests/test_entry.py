"""Tests of the start of a child."""

from __future__ import annotations

import resource
import sys

import pytest
from symfix.codemods.harness.children.entry import in_one_piece


def called_often(depth: int) -> None:
    def leaf(one: int = 1, other: int = 2) -> int:
        return one

    if depth:
        return called_often(depth - 1)
    for _ in range(2000):
        leaf()
    return None


def most_faults() -> int:
    def faults(depth: int) -> int:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        called_often(depth)
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    return max(map(faults, range(1, 400)))


@pytest.mark.skipif(sys.version_info < (3, 11), reason="before Python 3.11 each frame has memory of its own")
def test_a_call_at_any_depth_finds_memory_for_its_frame() -> None:
    found: list[int] = []
    in_one_piece(lambda: found.append(most_faults()))
    assert found[0] < 100 < 2000 <= most_faults(), "else a call that is the first in a piece asks the kernel for it"


def test_what_is_raised_comes_out() -> None:
    def fail() -> None:
        raise OSError("no disk")

    with pytest.raises(OSError, match="no disk"):
        in_one_piece(fail)
