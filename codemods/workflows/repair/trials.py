"""Trials of operators on a torch with drafts: the verdict of each, and the place that required a concrete size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...harness.opinfo_runner import OPERATORS, UNBACKED
from ...harness.process_limits import Ended
from ...harness.resilient_batch import Batch, BatchReport, limits_for
from ...harness.torch_variant import Harness, Variant
from ..hunt.failure_attribution import attribute
from ..hunt.frames import plain_name
from ..hunt.sources import TorchSources

_START_SECONDS = 120
_CPU_SECONDS = 400
"""Limit on the processor time of the samples of one operator."""

PASSED = "passed"
FAILED = "failed"
WRONG = "wrong"
DEVIATES = "deviates"
UNTESTABLE = "untestable"


@dataclass(frozen=True)
class TorchFrame:
    """A line of torch's Python, or a C++ function of torch (then ``file`` is empty and ``line`` 0)."""

    file: str
    line: int
    function: str
    conditions: tuple[str, ...] = ()
    """Conditions that would decide the undecided expression, in the names of this line."""
    operators: tuple[str, ...] = ()
    """Operators whose reference starts at this line and was not running. Without a file, the composite operator that
    was running."""

    @property
    def native(self) -> bool:
        return not self.file and not self.operators

    @property
    def composed(self) -> str:
        """Return the operator (``aten.hsplit.int``) that C++ was composing, or "" for a line or a function."""
        return "" if self.file or not self.operators else self.operators[0]


@dataclass(frozen=True)
class Trial:
    """Result of one operator up to its first bad sample.

    ``verdict`` is passed, failed, wrong, deviates or untestable. ``count`` samples were tried. ``frames`` are torch's
    own, innermost first.
    """

    operator: str
    verdict: str
    message: str = ""
    count: int = 0
    sample: int = -1
    frames: tuple[TorchFrame, ...] = ()
    calls: tuple[int, ...] = ()
    crashed: bool = False
    """True if the process ended or the trial took too long. Another trial may succeed."""
    seconds: float = field(default=0.0, compare=False)
    """Processor time."""

    @property
    def passed(self) -> bool:
        return self.verdict == PASSED

    @property
    def undecided(self) -> bool:
        """Return whether the trial is known to fail by an unknown size or value."""
        return False

    @property
    def is_stop(self) -> bool:
        """Return whether the trial may have stopped at code that was there before, not at a fault of a candidate."""
        return not self.passed

    @property
    def silent(self) -> bool:
        """Return whether the result differs from eager without an error."""
        return self.verdict in (WRONG, DEVIATES)


@dataclass(frozen=True)
class Tried:
    """All trials of a run by operator. ``broken`` is the reason if torch could not be loaded."""

    trials: dict[str, Trial]
    states: tuple[str, ...] = ()
    broken: str = ""


def try_all(
    laboratory: Harness,
    variant: Variant,
    operators: Mapping[str, int],
    most: int = 0,
    jobs: int = 2,
    *,
    kind: str = OPERATORS,
    protocol: str = UNBACKED,
    site: Path = Path(),
) -> Tried:
    """Try every operator on ``variant``, in ``jobs`` children. An operator whose child dies has failed.

    At most ``most`` samples of each operator are tried (0: all), including the given one (-1: none). ``kind`` and
    ``protocol`` are the kind of the operators and the way to run them. ``site`` is the folder that contains torch.
    """
    states: tuple[str, ...] = ()
    sources = TorchSources(site, variant.modules)

    def hear(said: list[dict[str, Any]], ended: Ended) -> BatchReport[str, Trial]:
        nonlocal states
        loaded, heard = _read(said, sources)
        states = loaded or states
        return heard

    trials, broken = Batch(
        "trial_runner",
        request=lambda some: {
            "operators": [(name, operators[name]) for name in some],
            "kind": kind,
            "protocol": protocol,
            "most": most,
            "cpu": _CPU_SECONDS,
        },
        parse_report=hear,
        on_crash=lambda name, ended: Trial(
            name, FAILED, f"the process {ended.died or f'ended with {ended.code}'}", crashed=True
        ),
        limits=lambda count: limits_for(laboratory.limits, count, _START_SECONDS),
    ).run_shared(laboratory, variant, list(operators), jobs)
    if broken is not None:
        last = broken.stderr.strip().splitlines()[-1:] or ["it ended without a word"]
        return Tried(trials, states, broken.died or last[0])
    return Tried(trials, states)


def _read(rows: list[dict[str, Any]], sources: TorchSources) -> tuple[tuple[str, ...] | None, BatchReport[str, Trial]]:
    states: tuple[str, ...] | None = None
    begun: str | None = None
    trials: dict[str, Trial] = {}
    for said in rows:
        if "swaps" in said:
            states = tuple(said["swaps"])
        elif "start" in said:
            begun = said["start"]
        else:
            trials[said["operator"]] = _trial(said, sources)
    return states, BatchReport(states is not None, begun, trials)


def torch_frames(said: Mapping[str, Any]) -> tuple[TorchFrame, ...]:
    """Return the frames of torch that a child reported, then the references and operators that could be registered."""
    frames = [TorchFrame(*frame) for frame in (*said.get("frames", ()), *said.get("user", ()))]
    frames += [
        TorchFrame(file, line, function, operators=tuple(operators.split()))
        for file, line, function, operators in said.get("references", ())
    ]
    frames += [TorchFrame("", 0, operator, operators=(operator,)) for operator in said.get("composed", ())]
    return tuple(dict.fromkeys(frames))


def attributed_frames(seen: Mapping[str, Any], sources: TorchSources) -> tuple[TorchFrame, ...]:
    """Return the places to which a hunt attributes an error that a child explained."""
    signatures = {plain_name(frame["name"]): frame["name"] for frame in seen["native"]}
    return tuple(
        TorchFrame(str(sources.site / place.file), place.line, place.function)
        if place.line
        else TorchFrame("", 0, signatures.get(place.function, place.function))
        for place in attribute(seen, sources).path
    )


def _trial(said: dict[str, Any], sources: TorchSources) -> Trial:
    return Trial(
        said["operator"],
        said["verdict"],
        said["message"],
        said.get("count", 0),
        said.get("sample", -1),
        (*(attributed_frames(said["explained"], sources) if "explained" in said else ()), *torch_frames(said)),
        tuple(said.get("calls", ())),
        said.get("crashed", False),
        said["seconds"],
    )
