"""Tests of the seeds of torch's tests in children."""

from __future__ import annotations

import traceback
from collections.abc import Iterator

import pytest
import torch
from symfix.codemods.harness.children.protocols import dynamo_setup


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Yield a list that gets a number for each stack that torch formats."""
    for device in (torch.cuda, torch.xpu, torch.mtia):
        monkeypatch.setattr(device, "traceback", traceback)
    stacks: list[int] = []
    monkeypatch.setattr(traceback, "format_stack", lambda *_: stacks.append(1) or [])
    yield stacks


def test_a_seed_notes_no_stack_and_gives_the_same_numbers(noted: list[int]) -> None:
    torch.manual_seed(7)
    numbers = torch.rand(3)
    assert noted, "this torch notes none, there is nothing to leave out"
    noted.clear()
    dynamo_setup.seed_quickly()
    torch.manual_seed(7)
    assert not noted
    assert torch.equal(torch.rand(3), numbers)


def test_a_device_that_torch_has_not_is_passed_over(noted: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(torch, "mtia")
    dynamo_setup.seed_quickly()
    torch.cuda.manual_seed_all(7)
    assert not noted
