"""Captures before and after a change: the tracers that no longer trace a call, or trace it for fewer sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .guards import turned_away

if TYPE_CHECKING:
    from ...lab.children.captures import Capture


def lost_captures(before: Mapping[str, Capture], after: Mapping[str, Capture]) -> list[str]:
    """Return one line for each tracer that took a call before and now fails, breaks, guards or specializes more."""
    pairs = ((name, before[name], now) for name, now in after.items() if name in before)
    found = ((name, _lost(was, now)) for name, was, now in pairs if not was["error"])
    return [f"{name}: {said}" for name, said in found if said]


def gained_captures(before: Mapping[str, Capture], after: Mapping[str, Capture]) -> list[str]:
    """Return the tracers that failed before and now trace the call."""
    return [name for name, now in after.items() if name in before and before[name]["error"] and not now["error"]]


def _lost(before: Capture, after: Capture) -> str:
    if after["error"]:
        return after["error"]
    if after["breaks"] > before["breaks"]:
        return f"{after['breaks']} graph breaks instead of {before['breaks']}"
    if after["specialized"] > before["specialized"]:
        return f"{after['specialized']} sizes specialized instead of {before['specialized']}"
    if len(after["guards"]) > len(before["guards"]) and turned_away(before["guards"], after["guards"]) != "":
        more = [guard for guard in after["guards"] if guard not in before["guards"]]
        return f"guards more: {', '.join(more)}"
    return ""
