"""Trials of targets on a torch whose modules, and those of the user and of packages, are replaced by drafts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...harness.process_limits import Ended
from ...harness.resilient_batch import Batch, BatchReport, limits_for
from ...harness.torch_variant import Harness, Variant
from ..repair.trials import FAILED, WRONG, TorchFrame, Trial, Tried, torch_frames

_START_SECONDS = 60
NARROWING = ("narrowed", "guard")
"""Kinds of failure in which a program accepts fewer sizes than requested."""
SPECIALIZED = "specialized"
"""Kind of failure at a size of 0 or 1, for which the model takes another way. Torch assumes 2 and more."""
UNDECIDED = "GuardOnDataDependentSymNode"
ABOUT_SIZES = (UNDECIDED, "DataDependentOutputException", "DynamicOutputShapeException", "Unsupported")
"""Errors of torch about sizes and values that it does not know."""


Sides = Mapping[tuple[str, int], tuple[bool, ...]]
"""Truth values of a condition, by file and line."""


@dataclass(frozen=True)
class ReportedCase:
    """A call of the model. ``digest`` hashes eager's result, and is "" if that is not deterministic."""

    name: str
    digest: str
    error: str


@dataclass(frozen=True)
class ModelTrial(Trial):
    """Progress of a target. ``sample`` is the index of the way that failed."""

    way: str = ""
    kind: str = ""
    """Type of the error, or ``narrowed`` if the program accepts fewer sizes than requested."""
    by_value: bool = False
    """True if the value of a tensor was needed, not a size."""
    inside: str = ""
    """Line of torch that needed the value."""
    cases: tuple[ReportedCase, ...] = ()
    notes: tuple[str, ...] = ()
    """Inputs that are rejected. The user should see them, although they are no failure."""
    taken: tuple[str, ...] = ()
    """Inputs that the model rejects and the program accepts."""
    varied: tuple[str, ...] = ()
    """The inputs with other values that were made, on which the code goes other ways than on those given."""
    sides: tuple[tuple[str, int, tuple[bool, ...]], ...] = ()
    """File and line of each condition with a default, and the truth values that it had."""

    @property
    def undecided(self) -> bool:
        """Return whether the trial failed at a data-dependent guard, or with a narrowed range."""
        return self.kind in (UNDECIDED, *NARROWING)

    @property
    def is_stop(self) -> bool:
        return self.kind in (*ABOUT_SIZES, *NARROWING, SPECIALIZED)

    @property
    def silent(self) -> bool:
        """Return whether the result differs from eager, if not by torch's assumption about a size."""
        return super().silent and self.kind != SPECIALIZED


@dataclass
class Targets:
    """Trials of targets. Eager results of the unchanged code are stored and compared with those of every change."""

    folder: Path
    """Folder to which relative names of scripts and modules refer."""
    ways: tuple[str, ...]
    unbacked: bool
    described: Mapping[str, Any] | None = None
    """Description of the inputs, if the target consists of the model only."""
    counting: bool = False
    """True to record the truth values of conditions with a default instead of exporting."""
    filled: bool = False
    """True to leave out the inputs with a size of 0."""
    inside_torch: bool = False
    """True to add the frames of torch behind those of the model."""
    _eager: dict[str, tuple[ReportedCase, ...]] = field(default_factory=dict)
    _taken: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _varied: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def __call__(
        self, laboratory: Harness, variant: Variant, targets: Mapping[str, int], most: int, jobs: int
    ) -> Tried:
        """Try every target on ``variant`` in ``jobs`` children, through all ways up to the first that fails."""
        jobs = len(targets) if laboratory.piece else jobs
        shares = [list(targets)[number::jobs] for number in range(jobs)]
        with ThreadPoolExecutor(jobs) as pool:
            parts = list(pool.map(lambda share: self._try(laboratory, variant, share), [s for s in shares if s]))
        trials = {name: trial for part in parts for name, trial in part.trials.items()}
        broken = next((part.broken for part in parts if part.broken), "")
        if not variant.modules:
            asked = {name: trial for name, trial in trials.items() if isinstance(trial, ModelTrial)}
            self._eager |= {name: trial.cases for name, trial in asked.items()}
            self._taken |= {name: trial.taken for name, trial in asked.items()}
            self._varied |= {name: trial.varied for name, trial in asked.items() if not trial.passed}
        return Tried({name: self._held(name, trial) for name, trial in trials.items()}, broken=broken)

    def sides(
        self, laboratory: Harness, variant: Variant, targets: Sequence[str], jobs: int, *, by_value: bool
    ) -> dict[str, Sides]:
        """Run the targets in eager on all inputs and return, by target, the truth values of each default condition.

        A target that fails there is left out. An empty input shows no side of a decision on values (``by_value``).
        """
        found: dict[str, Sides] = {}
        eager = replace(self, ways=(), counting=True, filled=by_value)
        for trial in eager(laboratory, variant, dict.fromkeys(targets, -1), 0, jobs).trials.values():
            if isinstance(trial, ModelTrial) and trial.passed:
                found[trial.operator] = {(file, line): tuple(seen) for file, line, seen in trial.sides}
        return found

    def _try(self, laboratory: Harness, variant: Variant, targets: Sequence[str]) -> Tried:
        trials, broken = Batch(
            "exported_model",
            request=lambda left: {
                "targets": list(left),
                "folder": str(self.folder),
                "ways": self.ways,
                "unbacked": self.unbacked,
                "sides": self.counting,
                "filled": self.filled,
                "described": self.described,
                "inside_torch": self.inside_torch,
                "varied": {name: list(self._varied[name]) for name in left if name in self._varied},
                "cpu": laboratory.limits.wall,
            },
            parse_report=_read,
            on_crash=lambda name, ended: ModelTrial(name, FAILED, _end(ended), crashed=True),
            limits=lambda count: limits_for(laboratory.limits, count, _START_SECONDS),
        ).run(laboratory, variant, targets)
        if broken is None:
            return Tried(dict(trials))
        last = broken.stderr.strip().splitlines()[-1:] or ["it ended without a word"]
        return Tried(dict(trials), broken=broken.died or last[0])

    def _held(self, name: str, trial: Trial) -> Trial:
        """Return the trial, marked as wrong if the changed code gives another result in eager.

        It is marked as failed if the program accepts an input that the model refuses, and did not do so before.
        """
        if not isinstance(trial, ModelTrial) or self.counting:
            return trial
        cases = {case.name: case for case in trial.cases}
        # A broken model has no case, and a count may leave some out.
        for then in (case for case in self._eager.get(name, ()) if case.name in cases):
            now = cases[then.name]
            same = then.digest == now.digest or not (then.digest and now.digest)
            if then.error or (same and not now.error):
                continue
            came = f"at {now.name} the changed model itself gives {now.error or 'another result'}"
            return ModelTrial(name, WRONG, came, cases=trial.cases)
        taken = [one for one in trial.taken if one not in self._taken.get(name, ())]
        if trial.passed and taken:
            came = f"at {taken[0]} the program takes what the model refuses"
            return replace(trial, verdict=FAILED, message=came, kind="takes")
        return trial


def _end(ended: Ended) -> str:
    return f"the process {ended.died or f'ended with {ended.code}'} after {ended.seconds:.0f} s"


def _read(rows: list[dict[str, Any]], ended: Ended) -> BatchReport[str, Trial]:
    ready = False
    begun: str | None = None
    trials: dict[str, Trial] = {}
    for said in rows:
        if "swaps" in said:
            ready = True
        elif "start" in said:
            begun = said["start"]
        else:
            trials[said["target"]] = _trial(said)
    return BatchReport(ready, begun, trials)


def _trial(said: dict[str, Any]) -> ModelTrial:
    places = said.get("places", ())
    stated = said.get("stated") or [()] * len(places)
    return ModelTrial(
        said["target"],
        said["verdict"],
        said["message"],
        sample=said.get("stage", -1),
        frames=tuple(
            TorchFrame(place["file"], place["line"], place["function"], tuple(conditions))
            for place, conditions in zip(places, stated, strict=True)
        )
        + torch_frames(said),
        crashed=said.get("crashed", False),
        way=said.get("way", ""),
        kind=said.get("kind", ""),
        by_value=said.get("values", False),
        inside=said.get("inside", ""),
        cases=tuple(ReportedCase(**case) for case in said.get("cases", ())),
        notes=tuple(said.get("notes", ())),
        taken=tuple(said.get("taken", ())),
        varied=tuple(said.get("varied", ())),
        sides=tuple((file, line, tuple(seen)) for file, line, seen in said.get("sides", ())),
    )
