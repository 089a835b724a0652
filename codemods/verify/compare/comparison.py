"""Comparison of one operator under one protocol, before and after: gained, lost or deviating samples."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ...harness.observation import Observation
from ...harness.opinfo_runner import CONCRETE, Answer, Task
from ..change import Check
from .guard_comparison import newly_rejected_sizes

Seen = dict[str, Any]
_KERNELS = re.compile(r"' is only available for these backends: .*", re.DOTALL)
"""Pattern of torch's list of an operator's kernels. The line number of each registration in it depends on any change
above it."""


@dataclass(frozen=True)
class Difference:
    """Difference of one sample. ``kind`` is gained, lost or deviates."""

    kind: str
    before: str
    after: str


def compare(task: Task, before: Answer, after: Answer) -> Check | None:
    """Return the check of one task, or None without samples to compare."""
    operator, protocol = task
    if before.crashed or after.crashed:
        return Check(protocol, operator, _crash(before), _crash(after))
    if before.missing:
        return None
    if after.missing or len(before.samples) != len(after.samples):
        # The samples themselves are made by calling operators, including changed ones.
        said = after.missing or f"{len(after.samples)} samples can be made, before: {len(before.samples)}"
        return Check(protocol, operator, Observation(True), Observation(False, said, seconds=after.seconds))
    pairs = [pair for pair in zip(before.samples, after.samples, strict=True) if not pair[0].get("eager")]
    if not pairs:
        return None
    found = [(number, difference) for number, pair in enumerate(pairs) for difference in _differences(protocol, *pair)]
    return _check(task, before, after, pairs, found)


def _crash(answer: Answer) -> Observation:
    crashed = bool(answer.crashed)
    return Observation(not crashed, answer.crashed, crashed=crashed, overtime=answer.overtime, seconds=answer.seconds)


def _check(
    task: Task, before: Answer, after: Answer, pairs: list[tuple[Seen, Seen]], found: list[tuple[int, Difference]]
) -> Check:
    operator, protocol = task
    drawn = f"{len(pairs)} of {before.drawn}" if before.drawn > len(pairs) else str(len(pairs))
    subject = f"{operator} ({drawn} samples)"

    def observed(passed: bool, message: str, answer: Answer) -> Observation:
        return Observation(passed, message, seconds=answer.seconds)

    lost = [(number, item) for number, item in found if item.kind == "lost"]
    gained = [(number, item) for number, item in found if item.kind == "gained"]
    deviating = [f"sample {number}: {item.after}" for number, item in found if item.kind == "deviates"]
    deviates = "; ".join(deviating[:3]) or None
    if lost:
        number, item = lost[0]
        told = f"sample {number}: {item.after}" + (f" (and {len(lost) - 1} more samples)" if len(lost) > 1 else "")
        return Check(protocol, subject, observed(True, item.before, before), observed(False, told, after))
    if gained:
        number, item = gained[0]
        told = f"{len(gained)} of {len(pairs)} samples; sample {number}: {item.before}"
        left = sum(not seen["passed"] for _, seen in pairs)
        still = "; ".join(filter(None, (item.after, f"{left} of {len(pairs)} samples still fail" if left else "")))
        sides = observed(False, told, before), observed(True, still, after)
        return Check(protocol, subject, *sides, deviates=deviates)
    failing = _first_failure(protocol, (seen for _, seen in pairs))
    sides = observed(not failing, failing, before), observed(not failing, failing, after)
    return Check(protocol, subject, *sides, deviates=deviates)


def _first_failure(protocol: str, seen: Iterable[Seen]) -> str:
    # On concrete sizes an error is the expected result of an invalid call.
    return "" if protocol in CONCRETE else next((item["error"] for item in seen if not item["passed"]), "")


def _differences(protocol: str, before: Seen, after: Seen) -> list[Difference]:
    if protocol in CONCRETE:
        said = _concrete_difference(before, after)
        return [Difference("lost", "", said)] if said else []
    if before["passed"] != after["passed"]:
        if before["passed"]:
            return [Difference("lost", "", after["error"])]
        if after.get("pinned", 0) or after.get("compilations", 1) > 1:
            # A specialization in place of an error still recompiles for each size.
            return []
        return [Difference("gained", before["error"], _guards(after)), *_deviations({}, after)]
    if not after["passed"]:
        worse = after.get("silent") and not before.get("silent")
        return [Difference("lost", before["error"], "without an error, " + after["error"])] if worse else []
    if protocol == "backed":
        return _guard_differences(before, after)
    if after.get("compilations", 0) > before.get("compilations", 0):
        return [Difference("lost", "", f"{after['compilations']} compilations, before: {before['compilations']}")]
    return _lost(_deviations(before, after))


def _concrete_difference(before: Seen, after: Seen) -> str:
    if not before["passed"] or not after["passed"]:
        was, now = before.get("error", "no error"), after.get("error", "no error")
        if _KERNELS.sub("", was) != _KERNELS.sub("", now):
            return f"on concrete sizes {now}, before: {was}"
    elif before["layout"] != after["layout"]:
        return f"on concrete sizes the result is {after['layout']}, before: {before['layout']}"
    elif before["exact"] and not after["exact"]:
        return "on concrete sizes the result is no longer the same each time"
    elif before["exact"] and before["bits"] != after["bits"]:
        return "on concrete sizes the result has other bits"
    for what, was in before.get("effects", {}).items():
        if (now := after.get("effects", {}).get(what, "")) != was:
            return f"on concrete sizes other {what}{_was(was, now)}"
    was, now = before.get("gradients", ""), after.get("gradients", "")
    return f"on concrete sizes other gradients{_was(was, now)}" if was and was != now else ""


def _was(was: str, now: str) -> str:
    """Return both as text, or "" if they are digests."""
    worded = " " in was + now
    return f": {now or 'none'}, before: {was or 'none'}" if worded else ""


def _guard_differences(before: Seen, after: Seen) -> list[Difference]:
    measures = (("pinned", "sizes pinned to a number", 0), ("compilations", "compilations for three sizes", 1))
    for what, words, _ in measures:
        if after[what] > before[what]:
            return [Difference("lost", "", f"{after[what]} {words}, before: {before[what]}")]
    for what, words, best in measures:
        # Fewer is no proof: one remaining specialization recompiles for every size as two did.
        if after[what] < before[what] and after[what] == best:
            return [Difference("gained", f"{before[what]} {words}", _guards(after)), *_new_layout(before, after)]
    if any(after[what] < before[what] for what, _, _ in measures):
        # A size specialized before may have a guard now.
        return _lost(_new_layout(before, after))
    added = [guard for guard in after["guards"] if guard not in before["guards"]]
    away = newly_rejected_sizes(before["guards"], after["guards"]) if added else ""
    if away or (away is None and len(after["guards"]) >= len(before["guards"])):
        more = "a guard more" if len(after["guards"]) > len(before["guards"]) else "another guard"
        said = f" (turns away {away})" if away else ""
        return [Difference("lost", "", f"{more}: {', '.join(added)}{said}")]
    return _lost(_new_layout(before, after))


def _guards(seen: Seen) -> str:
    guards = seen.get("guards", ())
    return f"with the guards {', '.join(guards)}" if guards else ""


def _new_layout(before: Seen, after: Seen) -> list[Difference]:
    said = after.get("other_layout", "")
    return [Difference("deviates", "", said)] if said and not before.get("other_layout") else []


def _lost(found: list[Difference]) -> list[Difference]:
    return [Difference("lost", item.before, item.after) for item in found]


def _deviations(before: Seen, after: Seen) -> list[Difference]:
    """Return the new differences at other sizes than those traced, or all of them without a result before.

    A result that differs from eager's without an error always counts. A call that is rejected or recompiled counts if
    it worked before. It also counts at a larger size, where it shows that a size is still specialized.
    """
    found = _new_layout(before, after)
    known = before.get("probes", {})
    for size, deviation in after.get("probes", {}).items():
        was = known.get(size)
        silent = deviation.get("kind") == "silent" and (was or {}).get("kind") != "silent"
        if silent or (deviation and was == {}) or (deviation and was is None and size == "larger"):
            where = "larger sizes" if size == "larger" else f"size {size}"
            said = deviation["said"] if silent else f"{deviation['kind']}: {deviation['said']}"
            text = f"compiled with unbacked sizes and called at {where}: {said}"
            found.append(Difference("lost" if silent and size == "larger" else "deviates", "", text))
    return found
