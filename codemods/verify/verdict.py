"""Decision of the verdict from the checks."""

from __future__ import annotations

from collections.abc import Sequence

from .change import Check, Verdict

_USERS = {"test": "test", "repro": "script"}
"""Words for the protocols of runs that the user requested by name."""


def decide(checks: Sequence[Check], reached: bool, unrun: Sequence[str] = ()) -> tuple[Verdict, str]:
    """Return the verdict on checks that were all run before and after, and its reason.

    ``reached`` is whether any check ran the changed code. ``unrun`` are changed lines that were not run. With any of
    them, the change is neither proven nor neutral.
    """
    verdict, reason = _decide(checks, reached)
    if unrun and verdict in (Verdict.PROVEN, Verdict.NEUTRAL):
        return Verdict.UNVERIFIABLE, f"nothing ran the changed lines {', '.join(unrun)}; of the rest, {reason}"
    return verdict, reason


def _decide(checks: Sequence[Check], reached: bool) -> tuple[Verdict, str]:
    lost = [check for check in checks if check.lost and not check.flaky]
    if lost:
        first = lost[0]
        return Verdict.REGRESSED, f"{_name(first)} passed before and fails after: {first.after.message}"
    unjudged = [check for check in checks if check.unjudged]
    if unjudged:
        check = unjudged[0]
        side, seen = ("before", check.before) if check.before.overtime else ("after", check.after)
        return Verdict.UNVERIFIABLE, f"{_name(check)} met a time limit {side} the change: {seen.message}"
    gained = [check for check in checks if check.gained and not check.flaky]
    deviating = [check for check in gained if check.deviates]
    if deviating:
        first = deviating[0]
        return Verdict.UNVERIFIABLE, f"{_name(first)} no longer fails, but not as eager does: {first.deviates}"
    still = [check for check in checks if check.protocol in _USERS and not check.after.passed]
    if gained:
        first = gained[0]
        more = f" (and {len(gained) - 1} more)" if len(gained) > 1 else ""
        said = f"{_name(first)} failed before and passes after{more}; before: {first.before.message}"
        return Verdict.PROVEN, "; ".join([said, *map(_still, still)])
    if still:
        return Verdict.UNVERIFIABLE, "; ".join(map(_still, still))
    if not reached:
        return Verdict.UNVERIFIABLE, "nothing that was run reaches the changed code"
    flaky = [_name(check) for check in checks if check.flaky]
    if flaky:
        return Verdict.UNVERIFIABLE, f"what went differently does not do so again: {', '.join(flaky)}"
    failing = [check for check in checks if not check.after.passed]
    if failing and len(failing) == len(checks):
        return Verdict.NEUTRAL, f"{_name(failing[0])} fails before and after: {failing[0].after.message}"
    return Verdict.NEUTRAL, "everything that was run went the same before and after"


def _still(check: Check) -> str:
    return f"your {_USERS[check.protocol]} still fails: {check.subject}: {check.after.message}"


def _name(check: Check) -> str:
    return f"{check.protocol} {check.subject}"
