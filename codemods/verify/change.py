"""Input and result types of a verification."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from ..harness.observation import Observation


@dataclass(frozen=True)
class Change:
    """One file before and after. ``path`` is its location, independent of its current content."""

    path: Path
    before: bytes = field(repr=False)
    after: bytes = field(repr=False)


@dataclass(frozen=True)
class RemainingUse:
    """A line, counted from 1, and the reason why a size does not stay symbolic there.

    ``changed`` is False for a line of a changed function that is as before.
    """

    path: Path
    line: int
    detail: str
    changed: bool = True


class Verdict(Enum):
    """Result of one verification."""

    PROVEN = "proven"
    """Verdict if something failed before and passes after, and nothing is worse."""
    NEUTRAL = "neutral"
    """Verdict if all runs have the same result before and after."""
    REGRESSED = "regressed"
    """Verdict if something is worse after the change."""
    UNVERIFIABLE = "unverifiable"
    """Verdict if no run provides evidence about the change."""
    BROKEN_BASELINE = "broken-baseline"
    """Verdict if the original file does not build or load against this torch."""


@dataclass(frozen=True)
class Check:
    """One test run with the file before and after: ``protocol`` is the kind of test, ``subject`` its name.

    ``reference`` is the result on the installed torch, if requested. ``deviates`` describes how a passing test still
    differs from eager without an error, at sizes it was not traced with.
    """

    protocol: str
    subject: str
    before: Observation
    after: Observation
    reference: Observation | None = None
    deviates: str | None = None
    flaky: bool = False
    """True if the difference did not reproduce when both sides were run again."""

    @property
    def gained(self) -> bool:
        return self.after.passed and not self.before.passed and not self.before.overtime

    @property
    def lost(self) -> bool:
        return self.before.passed and not self.after.passed and not self.after.overtime

    @property
    def unjudged(self) -> bool:
        """Return whether a time limit ended only one side, so that its result is unknown."""
        return self.before.overtime is not self.after.overtime


@dataclass(frozen=True)
class KernelSwap:
    """Kernel of the file: registered in torch's place, or the reason why not. ``calls`` counts its calls."""

    kernel: str
    operator: str
    key: str
    state: str
    calls: int = 0

    @property
    def swapped(self) -> bool:
        return self.state == SWAPPED


SWAPPED = "swapped"


@dataclass(frozen=True)
class Verification:
    """Verdict on a set of changes, with its evidence."""

    verdict: Verdict
    reason: str
    paths: tuple[str, ...]
    checks: tuple[Check, ...] = ()
    swaps: tuple[KernelSwap, ...] = ()
    chosen: str = ""
    """Selected operator tests of torch, with the reasons."""
    unrun: tuple[str, ...] = ()
    """Changed lines of code (``path:line``) that were not run, which the verdict does not cover."""
    omitted: tuple[str, ...] = ()
    """Definitions that were left out of both sides, because this torch rejects them or has registered the same."""
    untraced: tuple[str, ...] = ()
    """Changed functions of a project without a traceable call, so that tracing may differ there."""
    ran_all: bool = False
    """True if every changed line is known to have been run."""
    commands: tuple[str, ...] = field(default=(), repr=False)
    torch: str = ""
    compiler: str = ""
    seconds: float = 0.0
    evidence: Path | None = None
    cached: bool = False
