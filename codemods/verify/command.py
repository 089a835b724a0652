"""`symfix verify`: the proof of a set of changes against the installed torch."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from .. import storage
from ..torchapi import TorchApi
from ..torchapi.locating import Place, locate
from .change import Change, Check, Swap, Verdict, Verification
from .compiling import Builder
from .evidence import keep, question_key, recall
from .isolation import Limits
from .modules import Unplaced, module_name
from .scratch import scratch_folder
from .swapping import Libraries, Unbuildable, build
from .toolchain import CompilerMissing, Toolchain, find_toolchain
from .variants import Laboratory, Replayed, Variant
from .verdict import decide

CPP_SUFFIXES = frozenset((".cpp", ".cc", ".cxx"))


def verify(
    changes: Sequence[Change],
    *,
    repros: Sequence[Path] = (),
    torch_python: Path | None = None,
    torch_root: Path | None = None,
    compiler: str | None = None,
    jobs: int = 2,
    limits: Limits | None = None,
    evidence_folder: Path | None = None,
    fresh: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> Verification:
    """Build the changed files before and after, swap them into the installed torch, run what there is to run.

    The answer to the same question is given from ``evidence_folder`` unless ``fresh``. Raises a TorchError when there
    is no usable torch, SandboxMissing when ``limits`` require what the machine has not.
    """
    started = time.monotonic()
    place = locate(None, torch_python)
    cpp = [change for change in changes if change.path.suffix in CPP_SUFFIXES]
    paths = tuple(str(change.path) for change in changes)
    answer = Verification(Verdict.UNVERIFIABLE, "", paths, torch=place.build)
    try:
        modules = _modules([change for change in changes if change not in cpp], place, torch_root)
        toolchain = find_toolchain(place, torch_root, compiler) if cpp else None
    except (Unplaced, CompilerMissing) as obstacle:
        return replace(answer, reason=str(obstacle), seconds=time.monotonic() - started)
    answer = replace(answer, compiler=toolchain.version if toolchain else "")
    keeper = evidence_folder or storage.folder("evidence")
    key = _key(changes, modules, place, toolchain, repros)
    known = None if fresh else recall(keeper, key)
    if known is not None:
        return known
    with scratch_folder() as scratch:
        laboratory = Laboratory(place.python, scratch, limits or Limits())
        verification = _Verification(laboratory, repros, jobs, progress, answer)
        answer = verification.run(cpp, modules, TorchApi.load(None, torch_python) if cpp else None, toolchain)
    return keep(replace(answer, seconds=round(time.monotonic() - started, 2)), keeper, key)


class _Verification:
    """The steps of one verification in one scratch folder."""

    def __init__(
        self,
        laboratory: Laboratory,
        repros: Sequence[Path],
        jobs: int,
        progress: Callable[[str], None],
        blank: Verification,
    ) -> None:
        self._laboratory = laboratory
        self._repros = [repro.resolve() for repro in repros]
        self._jobs = jobs
        self._progress = progress
        self._blank = blank

    def run(
        self,
        cpp: Sequence[Change],
        modules: Mapping[str, Change],
        api: TorchApi | None,
        toolchain: Toolchain | None,
    ) -> Verification:
        libraries = None
        if api is not None and toolchain is not None:
            builder = Builder(toolchain, self._laboratory.scratch, self._jobs)
            try:
                libraries = build(cpp, api, builder, self._progress)
            except Unbuildable as failure:
                names = ", ".join(change.path.name for change in cpp)
                return self._answer(failure.verdict, f"{names} {failure}", commands=failure.commands)
            finally:
                builder.close()
        before, after = self._variants(modules, libraries)
        return self._compare(before, after, libraries)

    def _compare(self, before: Variant, after: Variant, libraries: Libraries | None) -> Verification:
        installed = Variant("installed")
        scripts: list[Path | None] = [*self._repros] or [None]
        variants = (before, after, installed) if self._repros else (before, after)
        self._progress(f"running {len(self._repros)} repros on torch before, after and as installed")
        with ThreadPoolExecutor(max(1, self._jobs)) as pool:
            runs = {
                (script, variant.name): pool.submit(self._laboratory.replay, variant, script)
                for script in scripts
                for variant in variants
            }
            seen = {name: future.result() for name, future in runs.items()}
        commands = libraries.commands if libraries else ()
        for variant, verdict in ((before, Verdict.BROKEN_BASELINE), (after, Verdict.REGRESSED)):
            first = seen[scripts[0], variant.name]
            if not first.loaded:
                reason = f"the library {variant.name} the change does not load: {first.observation.message}"
                return self._answer(verdict, reason, commands=commands)
        swaps = _merged_swaps(libraries, [seen[script, after.name] for script in scripts])
        checks = tuple(
            Check(
                "repro",
                script.name,
                seen[script, before.name].observation,
                seen[script, after.name].observation,
                seen[script, installed.name].observation,
            )
            for script in self._repros
        )
        if libraries and not any(swap.swapped for swap in swaps):
            why = "; ".join(f"{swap.kernel}: {swap.state}" for swap in swaps) or "it defines none of torch's"
            return self._answer(Verdict.UNVERIFIABLE, f"no composite kernel could be swapped in: {why}", checks, swaps)
        if not checks:
            reason = "it builds and loads before and after, but nothing was given to run: name a script with --repro"
            return self._answer(Verdict.UNVERIFIABLE, reason, checks, swaps, commands)
        reached = libraries is None or any(swap.calls for swap in swaps)
        verdict, reason = decide(checks, reached)
        return self._answer(verdict, reason, checks, swaps, commands)

    def _variants(self, modules: Mapping[str, Change], libraries: Libraries | None) -> tuple[Variant, Variant]:
        kernels = len(libraries.candidates) if libraries else 0
        sides = []
        for side in ("before", "after"):
            files = {}
            for name, change in modules.items():
                files[name] = self._laboratory.scratch / f"{side}.{name}.py"
                files[name].write_bytes(change.before if side == "before" else change.after)
            library = None if libraries is None else libraries.before if side == "before" else libraries.after
            sides.append(Variant(side, library, kernels, files))
        return sides[0], sides[1]

    def _answer(
        self,
        verdict: Verdict,
        reason: str,
        checks: tuple[Check, ...] = (),
        swaps: tuple[Swap, ...] = (),
        commands: tuple[str, ...] = (),
    ) -> Verification:
        return replace(self._blank, verdict=verdict, reason=reason, checks=checks, swaps=swaps, commands=commands)


def _merged_swaps(libraries: Libraries | None, runs: Sequence[Replayed]) -> tuple[Swap, ...]:
    if libraries is None:
        return ()
    calls = [sum(counts) for counts in zip(*(run.calls for run in runs if run.calls), strict=True)]
    return libraries.swaps(runs[0].states, calls)


def _modules(changes: Sequence[Change], place: Place, torch_root: Path | None) -> dict[str, Change]:
    roots = [place.package.parent, *((torch_root,) if torch_root else ())]
    return {module_name(change.path, roots): change for change in changes}


def _key(
    changes: Sequence[Change],
    modules: Mapping[str, Change],
    place: Place,
    toolchain: Toolchain | None,
    repros: Sequence[Path],
) -> str:
    parts = [place.build.encode(), str(place.package).encode(), toolchain.identity.encode() if toolchain else b""]
    for change in changes:
        parts += [str(change.path.resolve()).encode(), change.before, change.after]
    parts += [name.encode() for name in sorted(modules)]
    for repro in repros:
        parts += [str(repro.resolve()).encode(), repro.read_bytes()]
    return question_key(parts)
