"""Verdicts on the entries of lists of expected failures, by running their tests."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from ...harness.process_limits import GIB, Ended, Limits
from ...harness.resilient_batch import Batch, BatchReport, limits_for
from ...harness.torch_variant import one_line
from ...torchapi.torch_finder import TorchInstallation as Torch
from ...verify.before_after import Side
from ..hunt.operator_names import operators_of
from ..hunt.sweep import HuntRequest, HuntSession, sweep
from .xfail_lists import XfailEntry

SHARED = {("common_ops_unbacked.py", "ops_dde_xfail"): "unbacked"}
"""Torch's own lists that its test files import, with the protocol of their tests."""
LIMITS = Limits(wall=240.0, cpu=900, memory=24 * GIB)
_START_SECONDS = 300


class EntryVerdict(Enum):
    """Verdict on an entry."""

    STALE = "stale"
    """Verdict if all tests of the entry pass."""
    NEEDED = "needed"
    """Verdict if a test of the entry still fails."""
    LEFT = "left"
    """Verdict if the entry is not judged, with a reason."""


@dataclass(frozen=True)
class Judgement:
    """One entry with the verdict of its tests."""

    entry: XfailEntry
    state: EntryVerdict
    reason: str


def judge(
    path: Path,
    entries: Sequence[XfailEntry],
    torch: Torch,
    side: Side,
    jobs: int = 2,
    progress: Callable[[int, int], None] = lambda done, total: None,
    passing: Collection[str] = (),
) -> list[Judgement]:
    """Run the tests of ``entries``, from the file at ``path``, on ``side``: ``torch`` as installed, or changed.

    ``passing`` are operators whose samples have all passed there under the protocol of a shared list. Raises
    NothingRuns when torch's operator tests can't be loaded.
    """
    found: dict[XfailEntry, Judgement] = {}
    shared: dict[str, list[XfailEntry]] = {}
    own: list[XfailEntry] = []
    for entry in entries:
        protocol = SHARED.get((path.name, entry.list))
        reason = _not_judged(entry, protocol)
        if reason:
            found[entry] = Judgement(entry, EntryVerdict.LEFT, reason)
        elif protocol:
            shared.setdefault(protocol, []).append(entry)
        else:
            own.append(entry)
    for protocol, listed in shared.items():
        found |= _swept(protocol, listed, torch, side, jobs, progress, passing)
    if own:
        found |= _tested(path, own, side, jobs)
    return [found[entry] for entry in entries]


def _not_judged(entry: XfailEntry, protocol: str | None) -> str:
    if entry.kind == "skip":
        return "a skip: its test may be flaky, slow or crash, which no run disproves"
    if entry.unclear:
        return entry.unclear
    if entry.device not in (None, "cpu"):
        return f"limited to {entry.device}: what runs here says nothing about it"
    if protocol and entry.dtypes is not None and set(entry.dtypes) - {"float", "float32"}:
        return f"limited to {', '.join(entry.dtypes)}: the protocol is run with float32"
    if not protocol and not entry.tests:
        return "unverifiable: no test of this file takes the list, and no protocol belongs to it"
    return ""


def _swept(
    protocol: str,
    entries: Sequence[XfailEntry],
    torch: Torch,
    side: Side,
    jobs: int,
    progress: Callable[[int, int], None],
    passing: Collection[str],
) -> dict[XfailEntry, Judgement]:
    known = {str(operator): operator for operator in operators_of(side.laboratory, torch)}
    named = sorted({entry.name for entry in entries} & set(known) - set(passing))
    request = HuntRequest([known[name] for name in named], protocol)
    result = sweep(request, HuntSession(side.variant, side.laboratory, torch.python, jobs), progress)
    passed = {*map(str, result.passed), *passing}
    failures = {str(failure.operator): failure.message for failure in reversed(result.failures)}
    untestable = {str(operator): why for operator, why in result.untestable.items()}
    found = {}
    for entry in entries:
        if entry.name in passed:
            said = Judgement(entry, EntryVerdict.STALE, f"passes on every sample ({protocol} protocol, cpu, float32)")
        elif entry.name in failures:
            said = Judgement(entry, EntryVerdict.NEEDED, one_line(failures[entry.name]))
        elif entry.name not in known:
            said = Judgement(
                entry, EntryVerdict.LEFT, "unverifiable: the installed torch has no operator test of this name"
            )
        else:
            said = Judgement(
                entry, EntryVerdict.LEFT, f"unverifiable: {untestable.get(entry.name, 'it takes no float32')}"
            )
        found[entry] = said
    return found


def _tested(path: Path, entries: Sequence[XfailEntry], side: Side, jobs: int) -> dict[XfailEntry, Judgement]:
    """Run the file's own tests for its expected failures, one child for each share of the entries."""
    numbered = list(enumerate(entries))
    shares = [numbered[number::jobs] for number in range(jobs)]
    with ThreadPoolExecutor(jobs) as pool:
        parts = pool.map(lambda share: _share(path, share, side), [share for share in shares if share])
        answers = {number: judgement for part in parts for number, judgement in part.items()}
    return {entry: answers[number] for number, entry in numbered}


def _share(path: Path, numbered: Sequence[tuple[int, XfailEntry]], side: Side) -> dict[int, Judgement]:
    entries = dict(numbered)

    def lost(number: int, ended: Ended) -> Judgement:
        return Judgement(entries[number], EntryVerdict.NEEDED, f"its test does not come to its end: {_said(ended)}")

    found, broken = Batch(
        "xfail_runner",
        request=lambda left: {
            "file": str(path.resolve()),
            "folders": [str(folder) for folder in _folders(path.resolve())],
            "entries": [(number, _asked(entries[number])) for number in left],
        },
        parse_report=lambda rows, ended: _heard(rows, entries),
        on_crash=lost,
        limits=lambda count: limits_for(side.laboratory.limits, count, _START_SECONDS),
    ).run(side.laboratory, side.variant, list(entries))
    if broken is not None:
        why = f"unverifiable: the test file does not load with the installed torch: {_said(broken)}"
        found |= {number: Judgement(entry, EntryVerdict.LEFT, why) for number, entry in numbered if number not in found}
    return found


def _asked(entry: XfailEntry) -> dict[str, Any]:
    return {"operator": entry.operator, "variant": entry.variant, "tests": entry.tests, "dtypes": entry.dtypes}


def _said(ended: Ended) -> str:
    return ended.died or one_line((ended.stderr.strip().splitlines() or ["it ended without a word"])[-1])


def judgement(entry: XfailEntry, tests: Sequence[Sequence[str]]) -> Judgement:
    """Derive the verdict on an entry from its tests and their outcomes."""
    if not tests:
        return Judgement(
            entry, EntryVerdict.LEFT, f"unverifiable: no test of {', '.join(entry.tests)} is about it here"
        )
    passing = [name for name, came in tests if came == "passes"]
    failing = [name for name, came in tests if came == "fails"]
    # A test that skips itself does so with and without the entry.
    other = [f"{name} {came}" for name, came in tests if came not in ("passes", "fails")]
    unknown = [said for said in other if not passing or " skips itself: " not in said]
    if failing:
        return Judgement(entry, EntryVerdict.NEEDED, f"{failing[0]} fails")
    if unknown:
        return Judgement(entry, EntryVerdict.LEFT, f"unverifiable: {unknown[0]}")
    return Judgement(entry, EntryVerdict.STALE, f"{', '.join(passing)} {'pass' if passing[1:] else 'passes'}")


def _folders(path: Path) -> list[Path]:
    """Return the folders for the file's own imports: its folder and the enclosing folder ``test``."""
    above = next((folder for folder in path.parents if folder.name == "test"), None)
    return [path.parent, *([above] if above not in (None, path.parent) else [])]


def _heard(rows: list[dict[str, Any]], entries: Mapping[int, XfailEntry]) -> BatchReport[int, Judgement]:
    ready, begun = False, None
    answers: dict[int, Judgement] = {}
    for said in rows:
        ready = ready or "loaded" in said
        begun = said.get("start", begun)
        if "entry" in said:
            answers[said["entry"]] = judgement(entries[said["entry"]], said["tests"])
    return BatchReport(ready, begun, answers)
