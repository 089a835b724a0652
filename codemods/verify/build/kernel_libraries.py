"""Builds of C++ files before and after as two libraries whose kernels replace torch's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from ...torchapi import TorchApi
from ..change import Change, KernelSwap, Verdict
from .changed_kernels import functions_reaching
from .compilation import Builder, Built
from .formulas import formulas
from .kernel_shim import KernelCandidate, candidates, shim_source


class Unbuildable(Exception):
    """Error raised when one side does not build: ``verdict`` identifies the side, ``str()`` is the compiler's error."""

    def __init__(self, verdict: Verdict, reason: str, commands: tuple[str, ...]) -> None:
        super().__init__(reason)
        self.verdict = verdict
        self.commands = commands


@dataclass(frozen=True)
class Libraries:
    """Two libraries with the same shim, so that kernel numbers agree."""

    before: Path
    after: Path
    candidates: tuple[KernelCandidate, ...]
    commands: tuple[str, ...]
    omitted: tuple[str, ...] = ()
    """Definitions that were left out of both sides."""
    counted: tuple[tuple[Change, Path], ...] = ()
    """Changes whose object after counts its lines, each with that object."""

    def swaps(self, states: Sequence[str], calls: Sequence[int]) -> tuple[KernelSwap, ...]:
        """Return the state and calls of each candidate that a library defines, from the shim's report."""
        counted = [*calls, *([0] * (len(states) - len(calls)))]
        return tuple(
            KernelSwap(c.kernel, c.operator, c.key, state, count)
            for c, state, count in zip(self.candidates, states, counted, strict=False)
            if state != NOT_DEFINED
        )


NOT_DEFINED = "not defined"
_SIDES = (Verdict.BROKEN_BASELINE, Verdict.REGRESSED)
"""Verdicts for a file that does not build before, or after, the change."""


def build(
    changes: Sequence[Change],
    api: TorchApi,
    builder: Builder,
    progress: Callable[[str], None],
    derivatives: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
) -> Libraries:
    """Compile every file on both sides and link each side with one shim.

    The files after the change are compiled only with their own includes. ``derivatives`` are the operators whose
    derivatives call a formula. Raises Unbuildable if a side does not compile or link.
    """
    wanted: dict[KernelCandidate, None] = {}
    for change in changes:
        wanted |= dict.fromkeys(candidates(change.before, api.kernels))
        wanted |= dict.fromkeys(candidates(change.after, api.kernels))
        reaching = functions_reaching(change.before, change.after)
        found = formulas(change.after, derivatives)
        wanted |= dict.fromkeys(one for one in found if reaching is None or one.kernel in reaching)
    shim_candidates = tuple(wanted)
    names = ", ".join(change.path.name for change in changes)
    progress(f"compiling {names} before and after, and a shim for {len(shim_candidates)} kernels")
    # The shim takes the longest, so it goes first.
    shim = builder.compile("shim.cpp", shim_source(shim_candidates).encode())
    compiled: list[tuple[Change, Future[Built], Future[Built]]] = []
    for change in changes:
        place, same = _folder(change), change.after == change.before
        original = change.before
        before = builder.compile(change.path.name, original, place, alone=same, original=original)
        after = before
        if not same:
            after = builder.compile(
                change.path.name, change.after, place, counted=builder.counts, alone=True, original=original
            )
        compiled.append((change, before, after))
    units: list[tuple[Verdict, Change, Future[Built]]] = []
    for change, before, after in compiled:
        if before.result().omitted != after.result().omitted:  # the change is in what does not compile
            before = builder.compile(change.path.name, change.before, _folder(change))
        units += [(Verdict.BROKEN_BASELINE, change, before), (Verdict.REGRESSED, change, after)]
    commands: list[str] = []
    for verdict in _SIDES:
        for blame, change, unit in units:
            if blame is verdict:
                if unit.result().target is None and blame is Verdict.REGRESSED:
                    before = builder.compile(
                        change.path.name, change.before, _folder(change), alone=True, original=change.before
                    )
                    _made(before.result(), Verdict.BROKEN_BASELINE, commands, "compile by its own includes")
                _made(unit.result(), verdict, commands, "compile")
    shim_object = _made(shim.result(), Verdict.UNVERIFIABLE, commands, "compile as a shim")
    linking = []
    for verdict, side in zip(_SIDES, ("before", "after"), strict=True):
        objects = [unit.result().target for blame, _, unit in units if blame is verdict]
        counted = side == "after" and builder.counts
        there = [shim_object, *(item for item in objects if item is not None)]
        linking.append(builder.link(there, side, counted=counted))
    sides = [_made(one.result(), verdict, commands, "link") for one, verdict in zip(linking, _SIDES, strict=True)]
    counted_objects = tuple(
        (change, target)
        for blame, change, unit in units
        if blame is Verdict.REGRESSED and change.after != change.before and builder.counts
        if (target := unit.result().target) is not None
    )
    omitted = tuple(dict.fromkeys(one for _, _, unit in units for one in unit.result().omitted))
    return Libraries(sides[0], sides[1], shim_candidates, tuple(commands), omitted, counted_objects)


def _folder(change: Change) -> Path | None:
    return change.path.parent if change.path.parent.is_dir() else None


def _made(built: Built, verdict: Verdict, commands: list[str], step: str) -> Path:
    commands.append(" ".join(built.command))
    if built.target is None:
        when = {Verdict.BROKEN_BASELINE: "before the change", Verdict.REGRESSED: "after the change"}.get(verdict, "")
        reason = " ".join(f"does not {step} {when}".split())
        raise Unbuildable(verdict, f"{reason}: {built.first_error}", tuple(commands))
    return built.target
