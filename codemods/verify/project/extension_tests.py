"""Test cases of a user's project, before and after: newly passing, newly failing and still failing ones."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ...harness.observation import Observation
from ...harness.process_limits import Ended, signal_name
from ...harness.torch_variant import one_line
from ..change import Check
from ..compare.captures import Captures, capture_checks

_LISTED = 50
_KEPT_DETAIL = 8000
_SHELL_SIGNAL = 128

PASSED, FAILED, SKIPPED, CRASHED, EXPECTED = "passed", "failed", "skipped", "crashed", "xfailed"
COLLECTED = "collected"
"""Outcome of a module or class whose tests could be listed. It is not a test."""
_BAD = (FAILED, CRASHED, EXPECTED)
_GOOD = (PASSED, COLLECTED)
_WORDS = {PASSED: "pass", FAILED: "fail", CRASHED: "fail", EXPECTED: "fail as expected", SKIPPED: "skipped"}


@dataclass(frozen=True)
class ExtensionTest:
    """One test of a command: its outcome, and the line with the reason."""

    outcome: str
    message: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Ran:
    """One run of a command: its end, the cases that it reported (none unless it ran pytest), and the loaded files."""

    code: int
    died: str | None
    message: str
    detail: str = field(repr=False)
    seconds: float
    cases: Mapping[str, ExtensionTest] = field(default_factory=dict, repr=False)
    captures: Mapping[str, Captures] = field(default_factory=dict, repr=False)
    """Captures by torch's tracers, by call (``module:function``)."""
    loaded: frozenset[str] = frozenset()

    @property
    def observation(self) -> Observation:
        """Return the result of the command as a whole."""
        passed = self.code == 0
        return Observation(passed, "" if passed else self.message, self.detail, self.died is not None, self.seconds)


def read(ended: Ended, folder: Path, top: Path) -> Ran:
    """Return the result of a command that reported to ``folder``, with paths relative to the copy ``top``."""
    died = ended.died
    if died is None and ended.code > _SHELL_SIGNAL:
        died = f"ended by signal {signal_name(ended.code - _SHELL_SIGNAL)}"
    place = f"{top}/"
    cases = _cases(folder / "cases.jsonl", died, place)
    said = died or _telling(ended)
    crashed = next((name for name, case in cases.items() if case.outcome == CRASHED), None)
    if died and crashed:
        said = f"{died}, in {crashed}"
    loaded: set[str] = set()
    for path in folder.glob("loaded-*.json"):
        try:
            lists = json.loads(path.read_text())
        except ValueError:
            # The process was killed during its write.
            continue
        loaded |= {*lists["modules"], *lists["libraries"]}
    detail = "" if ended.code == 0 else f"{ended.stdout}\n{ended.stderr}"[-_KEPT_DETAIL:]
    return Ran(
        ended.code, died, one_line(said.replace(place, "")), detail.replace(place, ""), ended.seconds, cases,
        _captures(folder / "captures.jsonl"), frozenset(loaded),
    )  # fmt: skip


def compare_runs(words: str, before: Ran, after: Ran, protocol: str = "test") -> list[Check]:
    """Return the checks of one command: one for the command, one for each case that differs or fails on both sides.

    A case that passed and is skipped or gone afterwards is lost. One that was expected to fail and passes is gained. If
    one side reports no case at all, each of its cases fails with the command, or counts as skipped if the command
    succeeds. Captured calls are compared too.
    """
    return [*_compare_cases(words, before, after, protocol), *capture_checks(before.captures, after.captures)]


def _compare_cases(words: str, before: Ran, after: Ran, protocol: str) -> list[Check]:
    if not before.cases and not after.cases:
        return [Check(protocol, words, before.observation, after.observation)]
    found = [
        check
        for name in dict.fromkeys([*before.cases, *after.cases])
        if (check := _compare_case(name, _case(before, name), _case(after, name))) is not None
    ]
    differing = [check for check in found if check.gained or check.lost]
    standing = [check for check in found if not (check.gained or check.lost)]
    whole = _whole(words, before, after, explained=bool(differing), protocol=protocol)
    return [whole, *differing, *standing[:_LISTED]]


def _whole(words: str, before: Ran, after: Ran, explained: bool, protocol: str) -> Check:
    """Return the check of the command itself. Its exit code counts only if its cases do not explain the difference."""
    if explained or (before.code == 0) == (after.code == 0):
        return Check(protocol, words, _summed(before), _summed(after))
    return Check(protocol, words, before.observation, after.observation)


def _summed(ran: Ran) -> Observation:
    counts = Counter(_WORDS[case.outcome] for case in ran.cases.values() if case.outcome in _WORDS)
    told = ", ".join(f"{counts[word]} {word}" for word in dict.fromkeys(_WORDS.values()) if counts[word])
    return Observation(True, told, "", ran.died is not None, ran.seconds)


def _case(ran: Ran, name: str) -> ExtensionTest:
    if name in ran.cases:
        return ran.cases[name]
    if ran.died:
        return ExtensionTest(CRASHED, ran.message)
    return (
        ExtensionTest(SKIPPED, "it is not there") if ran.cases or ran.code == 0 else ExtensionTest(FAILED, ran.message)
    )


def _compare_case(name: str, was: ExtensionTest, now: ExtensionTest) -> Check | None:
    if was.outcome == COLLECTED and now.outcome == SKIPPED:
        return None
    if was.outcome in _GOOD and now.outcome not in _GOOD:
        told = now if now.outcome in _BAD else ExtensionTest(FAILED, f"skipped: {now.message}")
        return Check("case", name, _see(was), _see(told))
    if now.outcome in (FAILED, CRASHED) and was.outcome == SKIPPED:
        return Check("case", name, Observation(True, f"skipped: {was.message}"), _see(now))
    if was.outcome in _BAD and (was.outcome, now.outcome) != (EXPECTED, EXPECTED):
        told = now if now.outcome != SKIPPED else ExtensionTest(FAILED, f"skipped: {now.message}")
        return Check("case", name, _see(was), _see(told))
    return None


def _see(case: ExtensionTest) -> Observation:
    passed = case.outcome in _GOOD
    return Observation(passed, "" if passed else case.message, "", case.outcome == CRASHED, case.seconds)


def _captures(path: Path) -> dict[str, Captures]:
    """Return the captures that a command reported, by call."""
    try:
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, ValueError):  # none, or a process was killed while it wrote
        return {}
    return {line["call"]: line["captures"] for line in lines}


def _cases(path: Path, died: str | None, place: str) -> dict[str, ExtensionTest]:
    cases: dict[str, ExtensionTest] = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            # The last line of a process that was killed.
            continue
        name, outcome = event["case"], event["outcome"]
        if outcome == "started":
            cases[name] = ExtensionTest("started")
            continue
        known = cases.get(name, ExtensionTest("started"))
        message = one_line(event["message"].replace(place, ""))
        seconds = known.seconds + event["seconds"]
        if outcome == "xfailed":
            cases[name] = ExtensionTest(EXPECTED, f"it fails as expected: {message}".removesuffix(": "), seconds)
        elif outcome == "xpassed":
            cases[name] = ExtensionTest(PASSED, "", seconds)
        elif outcome in (FAILED, SKIPPED, COLLECTED):
            cases[name] = ExtensionTest(outcome, message, seconds)
        elif event["when"] == "call":
            cases[name] = ExtensionTest(PASSED, "", seconds)
        else:
            cases[name] = ExtensionTest(known.outcome, known.message, seconds)
    return {
        name: ExtensionTest(CRASHED, died or "it never ended", case.seconds) if case.outcome == "started" else case
        for name, case in cases.items()
    }


def _telling(ended: Ended) -> str:
    """Return the line of a command's output that best explains the failure."""
    lines = [line.strip() for line in (ended.stdout + "\n" + ended.stderr).splitlines() if line.strip()]
    for sign in (": error:", "error:", "Error:", "FAILED"):
        telling = [line for line in lines if sign in line]
        if telling:
            return telling[0] if sign == ": error:" else telling[-1]
    return lines[-1] if lines else f"exit {ended.code}, without a word"
