"""Result of one run."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Observation:
    """Result of one run: whether it passed, and otherwise the one-line reason."""

    passed: bool
    message: str = ""
    detail: str = field(default="", repr=False)
    crashed: bool = False
    seconds: float = 0.0
    overtime: bool = False
    """True if a time limit stopped the run, which may complete at another time or on another machine."""
