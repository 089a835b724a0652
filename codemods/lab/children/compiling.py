"""Dynamo as the children want it before they compile."""

from __future__ import annotations

import importlib
from typing import Any

import torch


def compile_anew() -> None:
    """Let the next compilation know nothing of those before, and leave out what only a log would tell.

    Dynamo times the guards of each function that it has compiled, and flushes the processor's caches for that: a
    quarter to a third of a compilation that only traces.
    """
    torch._dynamo.reset()
    guards: Any = importlib.import_module("torch._dynamo.guards")
    guards.profile_guard_manager = _not_timed


def _not_timed(*_: Any) -> float:
    return 0.0
