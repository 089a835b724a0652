"""Operators tried on a torch with drafts laid over it: what each says, and where a size was asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..verify.scratch import new_name
from ..verify.variants import Laboratory, Variant

_START_SECONDS = 120
_CRASHED = "the process"
_OVERTIME = "more than"
_CPU_SECONDS = 400
"""What the samples of one operator may take."""

PASSED = "passed"
FAILED = "failed"
WRONG = "wrong"
DEVIATES = "deviates"
UNTESTABLE = "untestable"


@dataclass(frozen=True)
class Frame:
    """A line of torch's Python, or a C++ function of torch (then ``file`` is empty and ``line`` 0)."""

    file: str
    line: int
    function: str

    @property
    def native(self) -> bool:
        return not self.file


@dataclass(frozen=True)
class Trial:
    """What one operator did: ``verdict`` passed, failed, wrong, deviates or untestable, to its first bad sample.

    ``count`` samples were tried; ``frames`` are torch's own, the innermost first.
    """

    operator: str
    verdict: str
    message: str = ""
    count: int = 0
    sample: int = -1
    frames: tuple[Frame, ...] = ()
    calls: tuple[int, ...] = ()

    @property
    def passed(self) -> bool:
        return self.verdict == PASSED

    @property
    def crashed(self) -> bool:
        """The process ended instead of the trial, or the trial took too long: another time it may not."""
        return self.message.startswith((_CRASHED, _OVERTIME))

    @property
    def silent(self) -> bool:
        """No error, but not eager's result either."""
        return self.verdict in (WRONG, DEVIATES)


@dataclass(frozen=True)
class Tried:
    """All trials of a run by operator; ``broken`` says why the torch could not even be loaded."""

    trials: dict[str, Trial]
    states: tuple[str, ...] = ()
    broken: str = ""


def try_all(
    laboratory: Laboratory,
    variant: Variant,
    operators: Mapping[str, int],
    *,
    most: int = 0,
    jobs: int = 2,
    told: Callable[[int, int], None] = lambda done, total: None,
) -> Tried:
    """Try every operator on ``variant``, in ``jobs`` children; one whose child dies has failed with how it died.

    At most ``most`` samples of each (0: all), with the sample whose number is given for it (-1: none).
    """
    shares = [dict(list(operators.items())[number::jobs]) for number in range(jobs)]
    with ThreadPoolExecutor(jobs) as pool:
        parts = list(pool.map(lambda share: _try_share(laboratory, variant, share, most), [s for s in shares if s]))
    told(len(operators), len(operators))
    trials = {name: trial for part in parts for name, trial in part.trials.items()}
    broken = next((part.broken for part in parts if part.broken), "")
    return Tried(trials, next((part.states for part in parts if part.states), ()), broken)


def _try_share(laboratory: Laboratory, variant: Variant, operators: Mapping[str, int], most: int) -> Tried:
    trials: dict[str, Trial] = {}
    states: tuple[str, ...] = ()
    left = list(operators)
    limits = laboratory.limits
    while left:
        report = laboratory.scratch / new_name("trials")
        report.touch()
        whole = replace(
            limits, wall=limits.wall * len(left) + _START_SECONDS, cpu=limits.cpu * len(left) + _START_SECONDS
        )
        request = {
            "operators": [(name, operators[name]) for name in left],
            "most": most,
            "patience": limits.wall,
            "cpu": _CPU_SECONDS,
        }
        ended, _ = laboratory.ask("trying", variant, request, report, whole)
        loaded, started, fresh = _read(report)
        if loaded is None:
            last = ended.stderr.strip().splitlines()[-1:] or ["it ended without a word"]
            return Tried(trials, states, ended.died or last[0])
        states = loaded
        trials |= fresh
        left = [name for name in left if name not in trials]
        if left:
            victim = started if started in left else left[0]
            trials[victim] = Trial(victim, FAILED, f"{_CRASHED} {ended.died or f'ended with {ended.code}'}")
            left.remove(victim)
    return Tried(trials, states)


def _read(report: Path) -> tuple[tuple[str, ...] | None, str, dict[str, Trial]]:
    states: tuple[str, ...] | None = None
    started = ""
    trials: dict[str, Trial] = {}
    for line in report.read_bytes().splitlines():
        try:
            said: dict[str, Any] = json.loads(line)
        except ValueError:
            continue
        if "swaps" in said:
            states = tuple(said["swaps"])
        elif "start" in said:
            started = said["start"]
        else:
            trials[said["operator"]] = _trial(said)
    return states, started, trials


def _trial(said: dict[str, Any]) -> Trial:
    frames = [*said.get("frames", ()), *said.get("user", ())]
    return Trial(
        said["operator"],
        said["verdict"],
        said["message"],
        said.get("count", 0),
        said.get("sample", -1),
        tuple(dict.fromkeys(Frame(*frame) for frame in frames)),
        tuple(said.get("calls", ())),
    )
