"""One operator under one protocol, before and after: what was gained, what was lost, what deviates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .change import Check, Observation
from .operators import Answer, Task

Seen = dict[str, Any]


@dataclass(frozen=True)
class Difference:
    """How one sample went differently; ``kind`` is gained, lost or deviates."""

    kind: str
    before: str
    after: str


def compare(task: Task, before: Answer, after: Answer) -> Check | None:
    """The check of one task, or None where there is nothing to compare: no sample on either side."""
    operator, protocol = task
    if before.missing or after.missing:
        return None
    if before.crashed or after.crashed:
        return Check(protocol, operator, _crash(before), _crash(after))
    pairs = [pair for pair in zip(before.samples, after.samples, strict=True) if not pair[0].get("eager")]
    if not pairs:
        return None
    found = [(number, difference) for number, pair in enumerate(pairs) for difference in _differences(protocol, *pair)]
    return _check(task, before, after, pairs, found)


def _crash(answer: Answer) -> Observation:
    return Observation(not answer.crashed, answer.crashed, crashed=bool(answer.crashed), seconds=answer.seconds)


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
    # On concrete sizes an error is the right answer to a wrong call.
    return "" if protocol == "eager" else next((item["error"] for item in seen if not item["passed"]), "")


def _differences(protocol: str, before: Seen, after: Seen) -> list[Difference]:
    if protocol == "eager":
        said = _eager_difference(before, after)
        return [Difference("lost", "", said)] if said else []
    if before["passed"] != after["passed"]:
        if before["passed"]:
            return [Difference("lost", "", after["error"])]
        if after.get("pinned", 0) or after.get("compilations", 1) > 1:
            # A throw traded for a specialisation still compiles anew for each size.
            return []
        return [Difference("gained", before["error"], _guards(after)), *_new_deviations({}, after.get("probes", {}))]
    if not after["passed"]:
        worse = after.get("silent") and not before.get("silent")
        return [Difference("lost", before["error"], "without an error, " + after["error"])] if worse else []
    if protocol == "backed":
        return _guard_differences(before, after)
    return [
        Difference("lost" if item.kind == "deviates" else item.kind, item.before, item.after)
        for item in _new_deviations(before["probes"], after["probes"])
    ]


def _eager_difference(before: Seen, after: Seen) -> str:
    if not before["passed"] or not after["passed"]:
        was, now = before.get("error", "no error"), after.get("error", "no error")
        return "" if was == now else f"on concrete sizes {now}, before: {was}"
    if before["layout"] != after["layout"]:
        return f"on concrete sizes the result is {after['layout']}, before: {before['layout']}"
    if before["exact"] and after["exact"] and before["bits"] != after["bits"]:
        return "on concrete sizes the result has other bits"
    return ""


def _guard_differences(before: Seen, after: Seen) -> list[Difference]:
    measures = (("pinned", "sizes pinned to a number", 0), ("compilations", "compilations for three sizes", 1))
    for what, words, _ in measures:
        if after[what] > before[what]:
            return [Difference("lost", "", f"{after[what]} {words}, before: {before[what]}")]
    for what, words, best in measures:
        # Fewer is no proof: one specialisation that is left compiles again for every size as two did.
        if after[what] < before[what] and after[what] == best:
            return [Difference("gained", f"{before[what]} {words}", _guards(after))]
    if len(after["guards"]) > len(before["guards"]):
        added = [guard for guard in after["guards"] if guard not in before["guards"]]
        return [Difference("lost", "", f"a guard more: {', '.join(added)}")]
    return []


def _guards(seen: Seen) -> str:
    guards = seen.get("guards", ())
    return f"with the guards {', '.join(guards)}" if guards else ""


def _new_deviations(before: dict[str, str], after: dict[str, str]) -> list[Difference]:
    """Results at other sizes that differ from eager without an error; a wrong one at a larger size is a loss."""
    found = []
    for size, said in after.items():
        if said.startswith("silent: ") and not before.get(size, "").startswith("silent: "):
            where = "larger sizes" if size == "larger" else f"size {size}"
            text = f"compiled with unbacked sizes and called at {where}: {said.removeprefix('silent: ')}"
            found.append(Difference("lost" if size == "larger" else "deviates", "", text))
    return found
