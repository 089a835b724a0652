"""From C++ files before and after to two libraries that take their kernels' place in torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

from ..torchapi import TorchApi
from .change import Change, Swap, Verdict
from .compiling import Builder, Built
from .shim import Candidate, candidates, shim_source


class Unbuildable(Exception):
    """One side does not build: ``verdict`` says which, ``str()`` what the compiler said."""

    def __init__(self, verdict: Verdict, reason: str, commands: tuple[str, ...]) -> None:
        super().__init__(reason)
        self.verdict = verdict
        self.commands = commands


@dataclass(frozen=True)
class Libraries:
    """The two libraries; both have the same shim, so kernel numbers agree."""

    before: Path
    after: Path
    candidates: tuple[Candidate, ...]
    commands: tuple[str, ...]
    last_word: LastWord
    counted: tuple[tuple[Change, Path], ...] = ()
    """The changes whose object after counts its lines, with that object."""

    def swaps(self, states: Sequence[str], calls: Sequence[int]) -> tuple[Swap, ...]:
        """What became of each candidate that a library defines, by what the shim reported."""
        counted = [*calls, *([0] * (len(states) - len(calls)))]
        return tuple(
            Swap(c.kernel, c.operator, c.key, state, count)
            for c, state, count in zip(self.candidates, states, counted, strict=False)
            if state != NOT_DEFINED
        )


NOT_DEFINED = "not defined"
_SIDES = (Verdict.BROKEN_BASELINE, Verdict.REGRESSED)
"""Who is to blame when the file before, or the file after, does not build."""


def build(changes: Sequence[Change], api: TorchApi, builder: Builder, progress: Callable[[str], None]) -> Libraries:
    """Compile every file on both sides and link each side with one shim.

    Raises Unbuildable when a side does not compile or link.
    """
    wanted: dict[Candidate, None] = {}
    for change in changes:
        wanted |= dict.fromkeys(candidates(change.before, api.kernels))
        wanted |= dict.fromkeys(candidates(change.after, api.kernels))
    shim_candidates = tuple(wanted)
    names = ", ".join(change.path.name for change in changes)
    progress(f"compiling {names} before and after, and a shim for {len(shim_candidates)} kernels")
    units: list[tuple[Verdict, Future[Built]]] = []
    counting: list[tuple[Change, Future[Built]]] = []
    for change in changes:
        place = _folder(change)
        before = builder.compile(change.path.name, change.before, place)
        units.append((Verdict.BROKEN_BASELINE, before))
        if change.after != change.before:
            after = builder.compile(change.path.name, change.after, place, counted=builder.counts)
            counting.append((change, after))
        else:
            after = before
        units.append((Verdict.REGRESSED, after))
    shim = builder.compile("shim.cpp", shim_source(shim_candidates).encode())
    last_word = LastWord(changes, builder)
    commands: list[str] = []
    for verdict in _SIDES:
        for blame, unit in units:
            if blame is verdict:
                _made(unit.result(), verdict, commands, "compile")
    shim_object = _made(shim.result(), Verdict.UNVERIFIABLE, commands, "compile as a shim")
    sides = []
    for verdict, side in zip(_SIDES, ("before", "after"), strict=True):
        objects = [unit.result().target for blame, unit in units if blame is verdict]
        counted = side == "after" and builder.counts
        linked = builder.link([shim_object, *(item for item in objects if item is not None)], side, counted=counted)
        sides.append(_made(linked, verdict, commands, "link"))
    objects_after = ((change, unit.result().target) for change, unit in counting if builder.counts)
    counted_objects = tuple((change, target) for change, target in objects_after if target is not None)
    return Libraries(sides[0], sides[1], shim_candidates, tuple(commands), last_word, counted_objects)


class LastWord:
    """Compiles the files after the change with no header but their own, while other things run."""

    def __init__(self, changes: Sequence[Change], builder: Builder) -> None:
        self._builder = builder
        self._units = [(change, self._check(change, change.after)) for change in changes] if builder.precompiled else []

    def require(self) -> None:
        """Wait for the compiler; raises Unbuildable when it needs what a precompiled header brought."""
        for change, unit in self._units:
            if unit.result().target is None:
                _made(self._check(change, change.before).result(), Verdict.BROKEN_BASELINE, [], _PLAIN)
                _made(unit.result(), Verdict.REGRESSED, [], _PLAIN)

    def _check(self, change: Change, content: bytes) -> Future[Built]:
        return self._builder.check(change.path.name, content, _folder(change))


_PLAIN = "compile by its own includes"


def _folder(change: Change) -> Path | None:
    return change.path.parent if change.path.parent.is_dir() else None


def _made(built: Built, verdict: Verdict, commands: list[str], step: str) -> Path:
    commands.append(" ".join(built.command))
    if built.target is None:
        when = {Verdict.BROKEN_BASELINE: "before the change", Verdict.REGRESSED: "after the change"}.get(verdict, "")
        reason = " ".join(f"does not {step} {when}".split())
        raise Unbuildable(verdict, f"{reason}: {built.first_error}", tuple(commands))
    return built.target
