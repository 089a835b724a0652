"""Dynamo settings for compilations in child processes."""

from __future__ import annotations

import importlib
import traceback
from contextlib import suppress
from functools import cache, lru_cache
from types import ModuleType
from typing import Any

import torch
from torch._dynamo.decorators import mark_unbacked

from .symint_memo import remember_arithmetic

NOT_AGAIN = "fail_on_recompile"
"""Stance of dynamo, whose name occurs in the resulting errors."""
_EXPRESSIONS = 1 << 14


def compile_anew() -> None:
    """Reset dynamo for the next compilation, and skip work that only produces logs.

    Dynamo times the guards of each compiled function and flushes the processor's caches for that. This takes a quarter
    to a third of a compilation that only traces. For its metrics it writes its own and Inductor's settings as JSON. For
    each default that is taken it formats the stack. With each trace it reads the stack, for an error about mixed fake
    modes. These three take a twentieth together.
    """
    torch._dynamo.reset()
    guards: Any = importlib.import_module("torch._dynamo.guards")
    guards.profile_guard_manager = _not_timed
    metrics: Any = importlib.import_module("torch._dynamo.utils")
    metrics._get_dynamo_config_for_logging = metrics._scrubbed_inductor_config_for_logging = _not_told
    shapes: Any = importlib.import_module("torch.fx.experimental.symbolic_shapes")
    shapes.ShapeEnv._log_suppressed_dde = _not_told
    fakes: Any = importlib.import_module("torch._subclasses.fake_tensor")
    fakes.traceback = _WITHOUT_STACKS
    _remember_numbers()
    remember_arithmetic()


def trace_once() -> None:
    """Export and compile a small module, which fills the caches of torch that each first trace fills."""
    torch.set_num_threads(1)
    size: Any = torch.export.Dim.DYNAMIC
    with suppress(Exception):
        torch.export.export(torch.nn.Linear(2, 2), (torch.zeros(3, 2),), dynamic_shapes=({0: size},), strict=False)
        given = torch.zeros(3, 2)
        mark_unbacked(given, 0)
        torch.compile(torch.nn.Linear(2, 2), backend="eager", fullgraph=True)(given)
    torch._dynamo.reset()


def seed_quickly() -> None:
    """Disable the stack that torch records with each seed: its tests seed every device for each sample that they draw.

    A device that was not used yet keeps a stack with each seed, which takes three quarters of the drawing.
    """
    devices: list[Any] = [getattr(torch, name, None) for name in ("cuda", "xpu", "mtia")]
    for device in devices:
        if hasattr(device, "traceback"):
            device.traceback = _WITHOUT_STACKS


@cache
def _remember_numbers() -> None:
    """Memoize `Expr.is_number`: a sum of sizes checks each of its terms, thousands of times while a graph is traced."""
    expressions: Any = importlib.import_module("sympy").Expr
    # An expression never changes.
    expressions.is_number = property(lru_cache(_EXPRESSIONS)(expressions.is_number.fget))


def _no_stack(*_: Any) -> traceback.StackSummary:
    return traceback.StackSummary()


_WITHOUT_STACKS = ModuleType(traceback.__name__)
vars(_WITHOUT_STACKS).update(vars(traceback), extract_stack=_no_stack, format_stack=_no_stack)


def _not_timed(*_: Any) -> float:
    return 0.0


def _not_told(*_: Any) -> None:
    return None
