"""Autograd formulas that a C++ file defines: functions that derivatives call directly, outside of the dispatcher."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from ....cpp.syntax.functions import outline
from .kernel_shim import FORMULA, KernelCandidate

FILE = Path("torch", "csrc", "autograd", "FunctionsManual.cpp")
"""Path of the autograd formulas in a source tree."""
NAMESPACE = "torch::autograd::generated::details"
_MARKER = f"namespace {NAMESPACE}".encode()
_FRAME = re.compile(rf"{NAMESPACE}::(?:\(anonymous namespace\)::)?(\w+)(?:\[abi:\w+\])?(?:<|\()")


def formulas(content: bytes, operators: Mapping[str, tuple[str, ...]]) -> tuple[KernelCandidate, ...]:
    """Return the formulas that ``content`` may define, once for each operator whose derivative calls it."""
    if _MARKER not in content:
        return ()
    return tuple(
        KernelCandidate(name, NAMESPACE, operator, FORMULA, "", ())
        for name in sorted(outline(content).names)
        for operator in operators.get(name, ("",))
    )


def formula_in(frame: str) -> str:
    """Return the formula's own name in a demangled frame, or "" if it is not a formula."""
    found = _FRAME.search(frame)
    return found[1] if found else ""
