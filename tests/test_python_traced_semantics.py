"""Tests of captures of generated functions. A call that torch traces before all fixes is traced after them."""

from __future__ import annotations

import os
from typing import Any

import pytest
import torch
from concrete import fixed
from generated import functions
from hypothesis import HealthCheck, given, settings
from symfix.codemods.harness.children.recorders.captures import capture
from symfix.codemods.verify.compare.captures import lost_captures

TRACERS = ("compile", "compile static", "compile unbacked", "export")
CALLS = [(torch.ones(3, 2), torch.ones(3, 4), 2, 3), (torch.ones(4, 5), torch.ones(4, 5), 4, 1)]
SOME = settings(
    max_examples=int(os.environ.get("SYMFIX_EXAMPLES", "40")),
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


def function_of(text: str) -> Any:
    namespace: dict[str, Any] = {"__name__": "traced"}
    exec(compile(text, "traced.py", "exec"), namespace)
    return namespace["f"]


def lost(text: str, *, unsafe: bool) -> list[str]:
    """Return the captures that the fixes of a function lose, and the text after the fixes."""
    after = fixed(text, unsafe=unsafe)
    if after == text:
        return []
    found: list[str] = []
    for call in CALLS:
        before, now = (capture(function_of(one), call, {}, TRACERS) for one in (text, after))
        found += [f"{tracer}: {reason}" for tracer, reason in lost_captures(before, now).items()]
    return [*found, after] if found else []


@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])
def test_fixes_of_generated_functions_lose_no_capture(unsafe: bool) -> None:
    @SOME
    @given(functions())
    def check(text: str) -> None:
        assert lost(text, unsafe=unsafe) == []

    check()
