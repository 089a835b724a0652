"""Captures before and after a change: the tracers that no longer trace a call, or trace it for fewer sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...harness.observation import Observation
from ..change import Check
from .guard_comparison import is_readable, newly_rejected_sizes, symbols

if TYPE_CHECKING:
    from ...harness.children.recorders.captures import Capture


TRACERS = (
    "compile", "compile static", "compile with breaks", "compile unbacked",
    "export", "strict export", "make_fx", "script",
)  # fmt: skip
"""Names of all tracers, as in the child."""
Captures = Mapping[str, "Capture"]
"""Captures of one call, by tracer."""


def lost_captures(before: Captures, after: Captures) -> dict[str, str]:
    """Return, by tracer, the reason why a call that was traced before now fails, breaks, guards or specializes more."""
    pairs = ((name, before[name], now) for name, now in after.items() if name in before)
    found = {name: _lost(was, now) for name, was, now in pairs if not was["error"]}
    return {name: reason for name, reason in found.items() if reason}


def gained_captures(before: Captures, after: Captures) -> list[str]:
    """Return the tracers that failed before and now trace the call."""
    return [name for name, now in after.items() if name in before and before[name]["error"] and not now["error"]]


def capture_checks(before: Mapping[str, Captures], after: Mapping[str, Captures]) -> list[Check]:
    """Return a check for each call and tracer that differs, and one for each call that is traced as before."""
    found = []
    for name, now in after.items():
        was = before.get(name, {})
        lost, gained = lost_captures(was, now), gained_captures(was, now)
        found += [_check(name, tracer, "", reason) for tracer, reason in lost.items()]
        found += [_check(name, tracer, was[tracer]["error"], "", now[tracer]["deviation"]) for tracer in gained]
        if was and not (lost or gained) and is_traced(now):
            found.append(_check(name, ", ".join(tracer for tracer in now if not now[tracer]["error"]), "", ""))
    return found


def is_traced(captures: Captures) -> bool:
    """Return whether any tracer traces the call."""
    return any(not one["error"] for one in captures.values())


def _check(name: str, tracer: str, before: str, after: str, deviation: str = "") -> Check:
    seen = Observation(not before, before), Observation(not after, after)
    return Check("traced", f"{name} by {tracer}", *seen, deviates=deviation or None)


def _lost(before: Capture, after: Capture) -> str:
    if after["error"]:
        return after["error"]
    if after["breaks"] > before["breaks"]:
        return f"{after['breaks']} graph breaks instead of {before['breaks']}"
    if after["specialized"] > before["specialized"]:
        return f"{after['specialized']} sizes specialized instead of {before['specialized']}"
    if after["deviation"] and not before["deviation"]:
        return after["deviation"]
    more = [guard for guard in after["guards"] if guard not in before["guards"]]
    sizes = _turned_away(before["guards"], more) if more else ""
    doubtful = len(after["guards"]) > len(before["guards"]) and after["specialized"] == before["specialized"]
    if sizes or (sizes is None and doubtful):
        return f"guards more: {', '.join(more)}"
    return ""


def _turned_away(before: Sequence[str], more: Sequence[str]) -> str | None:
    """Return sizes that the guards before accept and the new ones reject, as `newly_rejected_sizes` does.

    Guards before are ignored if they are about other sizes or unreadable. Then more sizes are tried.
    """
    about = frozenset[str]().union(*map(symbols, more))
    return newly_rejected_sizes([one for one in before if symbols(one) <= about and is_readable(one)], more)
