"""From what was seen to a verdict."""

from __future__ import annotations

from collections.abc import Sequence

from .change import Check, Verdict


def decide(checks: Sequence[Check], reached: bool) -> tuple[Verdict, str]:
    """The verdict on checks that were all run before and after; ``reached`` is whether any ran the changed code."""
    lost = [check for check in checks if check.lost]
    if lost:
        first = lost[0]
        return Verdict.REGRESSED, f"{_name(first)} passed before and fails after: {first.after.message}"
    deviating = [check for check in checks if check.deviates]
    gained = [check for check in checks if check.gained]
    if gained and not deviating:
        first = gained[0]
        more = f" (and {len(gained) - 1} more)" if len(gained) > 1 else ""
        return Verdict.PROVEN, f"{_name(first)} failed before and passes after{more}; before: {first.before.message}"
    if deviating:
        return Verdict.REGRESSED, f"{_name(deviating[0])}: {deviating[0].deviates}"
    if not reached:
        return Verdict.UNVERIFIABLE, "nothing that was run reaches the changed code"
    failing = [check for check in checks if not check.after.passed]
    if failing and len(failing) == len(checks):
        return Verdict.NEUTRAL, f"{_name(failing[0])} fails before and after: {failing[0].after.message}"
    return Verdict.NEUTRAL, "everything that was run went the same before and after"


def _name(check: Check) -> str:
    return f"{check.protocol} {check.subject}"
