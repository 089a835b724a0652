"""The export loop: try to export, change the failing place, continue after it, and prove the result."""

from __future__ import annotations

import difflib
import hashlib
import math
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...engine.registry import Registry
from ...engine.torch_context import TorchSurroundings
from ...harness.fork_server import EXPORTS, Forking, forking
from ...harness.process_limits import Limits
from ...harness.remote import laboratory
from ...harness.torch_variant import Harness, Variant
from ...verify.build.modules import module_name
from ..repair.candidate_search import Search
from ..repair.candidates import CandidateSources
from ..repair.edited_file import EditedFile
from ..repair.groups import AcceptedFix, FixGroup, by_changes, only
from ..repair.progress_metric import expression, strip_advice
from ..repair.trial_runner import TrialRunner
from ..repair.trials import UNTESTABLE, TorchFrame, Trial
from .draft_report import DATA_DEPENDENT, BadReport, make
from .outcome import (
    SPECIAL_SIZE,
    ExportBlocker,
    Exported,
    ExportOutcome,
    FilePatch,
    LastFailure,
    SourcePlace,
    TargetVerdict,
)
from .patch_names import PatchNames
from .target_trials import ABOUT_SIZES, NARROWING, SPECIALIZED, UNDECIDED, ModelTrial, Sides, Targets

_LIMITS = Limits(wall=900.0, cpu=1200)
_ROUNDS = 60
_FRAMES = 10
"""Number of frames, of the model and of torch behind it, at which a search inside torch tries candidates."""
_TORCH_NOTE = "the change of torch was tried with this model only; torch's own tests are for `symfix repair`"
_PATIENCE = 18
"""Limit on successive candidates without progress of a target."""
_AGAIN = 8
"""Limit on the searches. After each one, every target is tried with only its own fixes, which may lack one."""


@dataclass(frozen=True)
class ExportRequest:
    """Arguments of a run. ``ways`` are export, strict and compile."""

    targets: tuple[str, ...]
    folder: Path
    ways: tuple[str, ...] = ("export",)
    unbacked: bool = False
    torch_python: Path | None = None
    min_torch: tuple[int, int] | None = None
    jobs: int = 1
    limits: Limits = _LIMITS
    executor: Executor | None = None
    """Workers of a cluster. The sources in ``folder`` are sent to them."""
    described: Mapping[str, Any] | None = None
    """Call of a target that consists of the model only."""
    prefer: str = ""
    """``where`` or ``cond``: what to try first where the values of a tensor decide."""
    search_seconds: float = math.inf
    """Limit on the search. What passes then is proven."""
    living: Harness | None = None
    """Laboratory that already contains the targets, under the names that they have there."""


def export(wanted: ExportRequest, scratch: Path, progress: Callable[[str], None] = lambda _: None) -> ExportOutcome:
    """Try and prove each target. Raises TorchError for a missing torch."""
    started = time.monotonic()
    surroundings = TorchSurroundings(
        torch_python=wanted.torch_python,
        min_torch=wanted.min_torch,
        all_functions=True,
        tried=True,
        prefer=wanted.prefer,
    )
    place = surroundings.place
    context = surroundings.context()
    targets = Targets(wanted.folder, wanted.ways, wanted.unbacked, wanted.described)
    jobs = wanted.jobs if wanted.executor is None else max(wanted.jobs, len(wanted.targets))
    with ExitStack() as stack:
        lab = plain = wanted.living or laboratory(place.python, scratch, wanted.limits, wanted.executor, wanted.folder)
        if wanted.executor is None and wanted.living is None:
            # A child imports torch before any target, so a fork of one that has does the same.
            lab = stack.enter_context(forking(plain, jobs, preloaded=EXPORTS, traces=True))
        bench = TrialRunner(lab, targets, str, CandidateSources(Registry(), lambda _: context), None, jobs)
        names = PatchNames(wanted.folder, place)
        progress(f"trying {_count(len(wanted.targets))} as they are")
        first = bench.try_on({}, dict.fromkeys(wanted.targets, -1)).trials
        failing = {name: trial for name, trial in first.items() if not trial.passed and trial.verdict != UNTESTABLE}
        search = Search(bench.advisors, bench, {}, dict(failing), by_changes, patience=_PATIENCE)
        search.deadline = started + wanted.search_seconds
        _run(search, progress)
        search.return_to_furthest()
        asked_by_torch = [name for name, trial in search.trials.items() if _is_asked_by_torch(trial)]
        # The torch of a living process can't be replaced.
        if asked_by_torch and wanted.living is None and not search.over:
            progress(f"looking inside torch for {_count(len(asked_by_torch))}")
            if isinstance(bench.laboratory, Forking):
                forks = stack.enter_context(forking(plain, jobs, preloaded=EXPORTS, exchange=True))
                bench = replace(bench, laboratory=forks)
            inside = _inside_torch(bench, targets, surroundings)
            search.move_to(inside, asked_by_torch)
            _run(search, progress)
            search.return_to_furthest()
        found = {
            name: Exported(name, TargetVerdict.AS_IT_IS, notes=_notes(one), inputs=_compared(one))
            for name, one in first.items()
            if one.passed
        }
        found |= {
            name: Exported(name, TargetVerdict.UNUSABLE, one.message)
            for name, one in first.items()
            if one.verdict == UNTESTABLE
        }
        passing = [name for name, trial in search.trials.items() if trial.passed]
        for group in by_changes(search.chains, passing):
            progress(f"proving {_count(len(group.operators))} with the same changes")
            found |= _proven(_with_torch_alone(group, search, names), search, targets, names)
        for name in failing:
            found.setdefault(name, _left(name, search, names))
        if not (wanted.unbacked or wanted.living or wanted.described or search.over):
            found |= {
                name: _with_further(one, search, wanted, names) for name, one in found.items() if one.left is not None
            }
        ordered = tuple(found[name] for name in wanted.targets)
        return ExportOutcome(place.build, wanted.ways, wanted.unbacked, ordered, round(time.monotonic() - started, 1))


def _run(search: Search, progress: Callable[[str], None]) -> None:
    for _ in range(_AGAIN):
        search.run(0, progress, _ROUNDS)
        if not search.complete(progress) or search.over:
            return


def _is_asked_by_torch(trial: Trial) -> bool:
    return isinstance(trial, ModelTrial) and bool(trial.inside) and not trial.passed and not trial.by_value


def _inside_torch(bench: TrialRunner, targets: Targets, surroundings: TorchSurroundings) -> TrialRunner:
    """Return a bench whose trials can replace modules of torch too."""
    package = surroundings.place.package
    context, of_torch = surroundings.context(), TorchSurroundings(torch_python=surroundings.torch_python).context()
    sources = CandidateSources(Registry(), lambda path: of_torch if path.is_relative_to(package) else context)

    def module(path: Path) -> str:
        return module_name(path, [package.parent]) if path.is_relative_to(package) else str(path)

    tries = replace(targets, inside_torch=True)
    return TrialRunner(bench.laboratory, tries, module, sources, None, bench.jobs, frames=_FRAMES)


def _with_torch_alone(group: FixGroup, search: Search, names: PatchNames) -> FixGroup:
    """Return the group without its changes of the model if those of torch are enough."""
    members = tuple(one for one in group.members if names.is_of_torch(one.path))
    if not members or len(members) == len(group.members):
        return group
    alone = FixGroup(members, group.operators)
    (trials,) = search.bench.try_alone(search.drafts, [alone])
    if not all(trial.passed for trial in trials.values()):
        return group
    for name in group.operators:
        search.chains[name] = [one for one in search.chains[name] if one in members]
    return alone


def _count(number: int) -> str:
    return "one target" if number == 1 else f"{number} targets"


def _proven(group: FixGroup, search: Search, targets: Targets, names: PatchNames) -> dict[str, Exported]:
    """Try the final texts and return the results of the group. Branches with a default are counted in eager mode."""
    bench = search.bench
    files = _files(group, search, names)
    texts = {file.path: file.after for file in files}
    variant = variant_of(texts, bench.laboratory)
    trials = targets(bench.laboratory, variant, dict.fromkeys(group.operators, -1), 0, bench.jobs).trials
    sides = _sides(group, targets, bench, variant)
    by_torch = any(file.of_torch for file in files)
    new = {file.path: _new_lines(file.before, file.after) for file in files}
    found = {}
    for name in group.operators:
        trial = trials[name]
        if not trial.passed:
            found[name] = _left(name, search, names, trial)
            continue
        assert isinstance(trial, ModelTrial)
        obstacles = tuple(_obstacle(name, member, search, names) for member in search.chains[name])
        unseen = tuple(
            f"{names.short(Path(file))}:{line}, {_said(seen)}: {_line(texts[Path(file)], line)}"
            for (file, line), seen in sorted((sides or {}).get(name, {}).items())
            # In front of a decision that eager keeps as it is, its operator is new.
            if len(seen) < 2 and {line, line - 1} & new.get(Path(file), set())
        )
        uncounted = sides is not None and name not in sides
        notes = (*trial.notes, "the sides of its decisions could not be counted") if uncounted else trial.notes
        verdict = TargetVerdict.ONE_SIDED if unseen or uncounted else TargetVerdict.PROVEN
        if by_torch:
            verdict = TargetVerdict.WITH_TORCH
            notes = (*notes, _TORCH_NOTE)
        found[name] = Exported(name, verdict, "", obstacles, files, notes, _compared(trial), unseen)
    return found


def _files(group: FixGroup, search: Search, names: PatchNames) -> tuple[FilePatch, ...]:
    drafts = {path: draft for path, draft in only(search.drafts, [group]).items() if draft.taken}
    return tuple(
        FilePatch(names.short(path), path, draft.source.content, _polished(draft), names.package(path))
        for path, draft in sorted(drafts.items())
    )


def _said(seen: tuple[bool, ...]) -> str:
    return f"always {str(seen[0]).lower()}" if seen else "never chosen"


def _sides(group: FixGroup, targets: Targets, bench: TrialRunner, variant: Variant) -> dict[str, Sides] | None:
    """Return the truth values of each condition with a default in eager, by target; None if there is none."""
    if not any(fix.default for member in group.members for fix in member.fixes):
        return None
    stopped = [trial for member in group.members for trial in member.before.values()]
    by_value = any(isinstance(trial, ModelTrial) and trial.by_value for trial in stopped)
    return targets.sides(bench.laboratory, variant, group.operators, bench.jobs, by_value=by_value)


def _new_lines(before: bytes, after: bytes) -> set[int]:
    """Return the lines of a changed text, from 1, that the text before did not contain."""
    matcher = difflib.SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False)
    changes = (change for change in matcher.get_opcodes() if change[0] != "equal")
    return {line + 1 for _, _, _, start, end in changes for line in range(start, end)}


def _line(text: bytes, line: int) -> str:
    return text.decode("utf-8", "replace").splitlines()[line - 1].strip()


def _polished(draft: EditedFile) -> bytes:
    return draft.language.polish(draft.source, draft.now.content, draft.context)


def variant_of(texts: Mapping[Path, bytes], laboratory: Harness) -> Variant:
    """Write the texts to files and return a variant of torch that replaces the originals by them."""
    modules, digest = {}, hashlib.sha256()
    for path, text in sorted(texts.items()):
        digest.update(str(path).encode() + text)
        file = laboratory.scratch / f"{path.stem}.{digest.hexdigest()[:16]}.py"
        file.write_bytes(text)
        modules[str(path)] = file
    return Variant("patched", modules=modules, identity=digest.hexdigest())


def _notes(trial: Trial) -> tuple[str, ...]:
    return trial.notes if isinstance(trial, ModelTrial) else ()


def _compared(trial: Trial) -> tuple[str, ...]:
    return tuple(case.name for case in trial.cases if not case.error) if isinstance(trial, ModelTrial) else ()


def _obstacle(name: str, member: AcceptedFix, search: Search, names: PatchNames) -> ExportBlocker:
    before = member.before.get(name) or next(iter(member.before.values()), None)
    source = search.drafts[member.path].source
    line = source.line_column(member.candidate.site.origin)[0]
    text = source.content.decode("utf-8", "replace").splitlines()[line - 1].strip()
    return ExportBlocker(
        SourcePlace(names.short(member.path), line, member.candidate.site.function, text),
        before.way if isinstance(before, ModelTrial) else "",
        expression(before.message) if before else "",
        before.inside if isinstance(before, ModelTrial) else "",
        tuple(dict.fromkeys(fix.message for fix in member.fixes)),
        member.candidate.defaults,
    )


def _left(name: str, search: Search, names: PatchNames, trial: Trial | None = None) -> Exported:
    last = trial or search.trials[name]
    chain = search.chains.get(name, ())
    taken = {id(member.candidate) for member in chain}
    attempts = [
        one for one in search.attempts if name in one.operators and not one.kept and id(one.candidate) not in taken
    ]
    frame = last.frames[0] if last.frames else None
    written = dict.fromkeys((one.candidate.words, one.came) for one in attempts)
    tried = (*written, *_refused(last, frame, search))
    place = None if frame is None else _place(name, frame, search, names)
    model = last if isinstance(last, ModelTrial) else ModelTrial(name, last.verdict, last.message)
    line = place.line if place is not None else 0
    here = search.sites(name)
    reason = _reason(
        model, frame, line, search, silent=any(name in one.deviating for one in attempts if one.candidate.site in here)
    )
    left = LastFailure(reason, strip_advice(last.message), model.way, place, model.inside, tried)
    obstacles = tuple(_obstacle(name, member, search, names) for member in chain)
    files = () if not last.is_stop else _files(FixGroup(tuple(chain), (name,)), search, names)
    notes = (*model.notes, "the search ended at its limit") if search.over else model.notes
    return Exported(name, TargetVerdict.LEFT, strip_advice(last.message), obstacles, files, notes, left=left)


def _with_further(one: Exported, search: Search, wanted: ExportRequest, names: PatchNames) -> Exported:
    """Return the result with the lines at which ``draft_export``, which goes on with real values, is undecided too."""
    assert one.left is not None
    lab = search.bench.laboratory
    try:
        report = make(one.target, wanted.folder, lab, variant_of({file.path: file.after for file in one.files}, lab))
    except BadReport:
        return one
    drafts = only(search.drafts, [FixGroup(tuple(search.chains.get(one.target, ())), ())])
    places = [
        next((at for at in failure.places if not names.is_of_torch(Path(at.file))), None)
        for failure in report.failures
        if failure.kind == DATA_DEPENDENT
    ]
    found = dict.fromkeys(_in_original(at, drafts, names) for at in places if at is not None)
    seen = {(at.file, at.line) for at in (one.left.place, *(one.place for one in one.obstacles)) if at is not None}
    return replace(one, further=tuple(at for at in found if (at.file, at.line) not in seen))


def _in_original(at: SourcePlace, drafts: Mapping[Path, EditedFile], names: PatchNames) -> SourcePlace:
    path = Path(at.file)
    draft = drafts.get(path)
    line = draft.source.line_column(draft.origin(draft.line_start(at.line)))[0] if draft is not None else at.line
    content = draft.source.content if draft is not None else path.read_bytes() if path.is_file() else b""
    lines = content.decode("utf-8", "replace").splitlines()
    text = lines[line - 1].strip() if 0 < line <= len(lines) else at.text.strip()
    return SourcePlace(names.short(path), line, at.function, text)


def _refused(trial: Trial, frame: TorchFrame | None, search: Search) -> tuple[tuple[str, str], ...]:
    """Return what could not be written at the place where a target stops, with the reason."""
    draft = search.drafts.get(Path(frame.file)) if frame is not None else None
    site = next(
        (one for one in search.sites(trial.operator) if draft is not None and one.path == draft.source.path), None
    )
    if draft is None or site is None or trial.silent:
        return ()
    line = draft.now.line_column(draft.offset(site.origin))[0]
    return tuple(draft.language.refused(draft.now, draft.context, line))


def _place(name: str, frame: TorchFrame, search: Search, names: PatchNames) -> SourcePlace:
    """Return the failing line of a target, in coordinates of the original text."""
    path = Path(frame.file)
    site = next((one for one in search.sites(name) if one.path == path), None)
    if site is None:
        drafts = only(search.drafts, [FixGroup(tuple(search.chains.get(name, ())), (name,))])
        return _in_original(SourcePlace(frame.file, frame.line, frame.function, ""), drafts, names)
    source = search.drafts[path].source
    line = source.line_column(site.origin)[0]
    return SourcePlace(names.short(path), line, frame.function, _line(source.content, line))


def _reason(trial: ModelTrial, frame: TorchFrame | None, line: int, search: Search, *, silent: bool) -> str:
    if trial.kind == SPECIALIZED:
        return SPECIAL_SIZE
    if trial.silent or silent:
        return "other-result"
    draft = search.drafts.get(Path(frame.file)) if frame else None
    word = draft.language.residue(draft.source, line) if draft is not None else ""
    if trial.kind in NARROWING:
        return "loop-over-size" if word == "loop-over-data" else "narrows-range"
    if not frame or trial.kind not in ABOUT_SIZES:
        return "not-sizes"
    if not Path(frame.file).is_file():
        return "no-source"
    if trial.by_value or trial.kind != UNDECIDED:
        return word or "value-dependent"
    if word == "loop-over-data" and not trial.inside:
        return "loop-over-size"
    return "in-torch" if trial.inside else "undecided-size"
