"""Dynamo as the children want it before they compile."""

from __future__ import annotations

import importlib
from typing import Any

import torch


def compile_anew() -> None:
    """Let the next compilation know nothing of those before, and leave out what only a log would tell.

    Dynamo times the guards of each function that it has compiled, and flushes the processor's caches for that: a
    quarter to a third of a compilation that only traces. For its metrics it writes its own and Inductor's settings as
    JSON, and for each default that is taken the stack is written as text: a thirtieth.
    """
    torch._dynamo.reset()
    guards: Any = importlib.import_module("torch._dynamo.guards")
    guards.profile_guard_manager = _not_timed
    metrics: Any = importlib.import_module("torch._dynamo.utils")
    metrics._get_dynamo_config_for_logging = metrics._scrubbed_inductor_config_for_logging = _not_told
    shapes: Any = importlib.import_module("torch.fx.experimental.symbolic_shapes")
    shapes.ShapeEnv._log_suppressed_dde = _not_told


def _not_timed(*_: Any) -> float:
    return 0.0


def _not_told(*_: Any) -> None:
    return None
