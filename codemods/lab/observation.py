"""What one run of one thing showed."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Observation:
    """One run of one thing: whether it passed, and the line that says why not."""

    passed: bool
    message: str = ""
    detail: str = field(default="", repr=False)
    crashed: bool = False
    seconds: float = 0.0
    overtime: bool = False
    """It was stopped by a time limit: another time, or on another machine, it may end."""
