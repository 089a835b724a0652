"""The whole repair: hunt, search, group, prove, and report the operators without a repair."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from ...engine.registry import Registry
from ...engine.torch_context import TorchSurroundings
from ...harness.fork_server import forking
from ...harness.opinfo_runner import CALLS, OPERATORS, UNBACKED
from ...harness.process_limits import Limits
from ...harness.remote import laboratory
from ...harness.resilient_batch import memory_for
from ...system import cache_folder
from ...torchapi import TorchApi, TorchError
from ...torchapi.derivatives import operators_by_formula
from ...torchapi.torch_finder import locate
from ...verify.build.compilation import Builder
from ...verify.build.modules import module_name
from ...verify.build.toolchain import find_toolchain
from ...verify.change import Verdict
from ...verify.choose.function_index import trace_index
from ...verify.choose.test_selection import coverage
from ..hunt.failure import Failure, Mode, Operator
from ..hunt.fuzz import Fuzz, fuzz
from ..hunt.operator_names import operators_of
from ..hunt.sweep import HuntRequest, HuntSession, Sweep, sweep
from .candidate_search import ROUNDS, Attempt, Search
from .candidates import CandidateSources
from .cpp_build import Native
from .group_proof import Proven, Prover
from .journal import TrialJournal
from .phase_times import Timing
from .progress_metric import strip_advice
from .proof_scheduler import Proofs
from .regression_check import no_longer_equal, no_longer_passing
from .result import Repair, RepairOutcome, SourceSpan, Unrepaired
from .speculative_trials import Speculation, run_at_idle_priority
from .translations import Translations
from .trial_runner import TrialRunner
from .trials import TorchFrame, Trial, try_all

SOME = 6
"""Number of samples of an operator that are tried during the search for candidates."""
_LIMITS = Limits(wall=1800.0, cpu=900)
"""Limits in processor time, so that no operator fails because the machine is busy."""
_AT_ONCE_FAR = 64
"""Number of groups of fixes that are tried at a time on a cluster."""
_SEARCH = "search, some samples"
_ROUNDS = (ROUNDS, 6, 6, 6, 3)
"""Limits on the rounds of candidates in each search. The later searches are for few operators."""


@dataclass(frozen=True)
class RepairRequest:
    """Arguments of a run. ``operators`` None: all of this kind that fail under this protocol."""

    operators: tuple[str, ...] | None = None
    kind: str = OPERATORS
    protocol: str = UNBACKED
    torch_root: Path | None = None
    torch_python: Path | None = None
    jobs: int = 2
    fresh: bool = False
    journal: Path | None = None
    files: frozenset[Path] = frozenset()
    """Files to repair. Failures at places outside of them are ignored. Empty for no restriction."""
    executor: Executor | None = None
    """Workers of a cluster. Trials of kernels that were compiled here remain on this machine."""
    fuzz: Fuzz | None = None
    """Parameters for calls drawn around the samples of the operators, if that is the kind."""


def repair(
    wanted: RepairRequest,
    scratch: Path,
    progress: Callable[[str], None] = lambda _: None,
    counted: Callable[[int, int], None] = lambda done, total: None,
    proven: Proven | None = None,
) -> RepairOutcome:
    """Hunt, then search and prove. ``proven`` is called with each proven repair.

    Raises the errors of `hunt` for a missing torch or operator.
    """
    started = time.monotonic()
    surroundings = TorchSurroundings(torch_python=wanted.torch_python)
    place = surroundings.place
    timing = Timing()
    with timing.phase("hunt"):
        found = _hunted(wanted, progress, counted)
    failures = {str(failure.operator): failure for failure in reversed(found.failures)}
    lab = laboratory(place.python, scratch, _LIMITS, wanted.executor)
    context = surroundings.context()
    native = _native(wanted, surroundings, scratch, progress)
    # A trial contains paths of the one torch that it was made on.
    installed = f"{place.build} {place.package}"
    if (wanted.kind, wanted.protocol) != (OPERATORS, UNBACKED):
        installed += f" {wanted.kind} {wanted.protocol}"
    journal = TrialJournal(wanted.journal or _journal(installed), installed)
    if wanted.fresh:
        journal.forget()
    translations = _translations(wanted, context.api, progress)
    advisors = CandidateSources(Registry(), lambda _: context, translations)
    folder = place.package.parent
    tries = partial(try_all, kind=wanted.kind, protocol=wanted.protocol, site=folder)

    def module(path: Path) -> str:
        return module_name(path, [folder])

    with ExitStack() as stack:
        quick = None
        if wanted.executor is None:
            # One fork server more than there are jobs, for speculation.
            forks = forking(lab, wanted.jobs + 1, scripts=proven is not None, exchange=True)
            quick = stack.enter_context(forks)
        prover = Prover(
            place,
            wanted.torch_root,
            wanted.torch_python,
            wanted.jobs,
            wanted.fresh,
            {str(failure.operator): failure.operator.name for failure in found.failures},
            wanted.kind,
            wanted.protocol,
            progress,
            wanted.executor,
            quick,
            proven,
        )
        jobs = wanted.jobs if wanted.executor is None else _AT_ONCE_FAR
        bench = TrialRunner(lab, tries, module, advisors, native, jobs, journal, quick, timing=timing)
        progress(f"looking at {len(failures)} failing {wanted.kind}")
        with timing.phase(_SEARCH):
            tried = bench.try_on({}, {name: failures[name].sample for name in sorted(failures)}).trials
        first = {name: _placed(trial, failures[name], folder) for name, trial in tried.items()}
        # Speculation in parallel with the search needs its own memory.
        roomy = quick is not None and wanted.jobs > 1 and memory_for() >= 2 * wanted.jobs
        proofs = Proofs(prover, first, timing, progress, beside=wanted.jobs if roomy else 1)
        stack.callback(proofs.close)
        search = Search(advisors, bench, {}, dict(first), files=wanted.files, provable=proofs.begin)
        if roomy:
            aside = run_at_idle_priority(bench)
            asked = (aside.laboratory, place, progress)
            ahead = Speculation(aside, partial(trace_index, *asked), partial(coverage, *asked))
            stack.callback(ahead.close)
            search.completable = ahead.begin
        _search(search, progress)
        repairs = proofs.repairs(search)
        if _refused(search, repairs):
            progress("looking for other candidates where the proof failed")
            _search(search, progress, _ROUNDS[-1:])
            repairs = proofs.repairs(search)
    with timing.phase("all repairs at once"):
        regressions, compared = _whole(search, repairs, found, wanted, progress, counted)
    if native is not None:
        native.builder.close()
    return RepairOutcome(
        place.build,
        len(failures),
        tuple(repairs),
        tuple(_hand_overs(wanted, search, repairs, failures)),
        {name: failure.mode.value for name, failure in failures.items()},
        tuple(regressions),
        compared,
        seconds=round(time.monotonic() - started, 1),
        kind=wanted.kind,
        timing=timing,
    )


def _hunted(wanted: RepairRequest, progress: Callable[[str], None], counted: Callable[[int, int], None]) -> Sweep:
    """Return the sweep of the operators. For drawn calls it contains only the failures, named by their calls."""
    progress("running operators on their own samples" if wanted.fuzz else f"hunting for {wanted.kind} that fail")
    request = HuntRequest(
        None if wanted.fuzz else wanted.operators, wanted.protocol, OPERATORS if wanted.fuzz else wanted.kind
    )
    session = HuntSession(torch_python=wanted.torch_python, jobs=wanted.jobs, fresh=wanted.fresh)
    found = sweep(request, session, counted)
    if wanted.fuzz is None:
        return found
    progress("drawing calls")
    drawn = fuzz(
        wanted.operators or (),
        wanted.fuzz,
        found,
        torch_python=wanted.torch_python,
        jobs=wanted.jobs,
        fresh=wanted.fresh,
        progress=counted,
    )
    failures = tuple(replace(one, operator=Operator(one.call)) for one in drawn.sweep.failures if one.call)
    return replace(drawn.sweep, kind=CALLS, failures=failures, passed=(), untestable={})


def _placed(trial: Trial, failure: Failure, folder: Path) -> Trial:
    """Add the Python lines found by the hunt to a trial whose error names no place."""
    if trial.frames or trial.passed or failure.mode is not Mode.NOT_OURS:
        return trial
    lines = [place for place in failure.path if place.language == "python" and place.line]
    return replace(trial, frames=tuple(TorchFrame(str(folder / one.file), one.line, one.function) for one in lines))


def _whole(
    search: Search,
    repairs: Sequence[Repair],
    found: Sweep,
    wanted: RepairRequest,
    progress: Callable[[str], None],
    counted: Callable[[int, int], None],
) -> tuple[list[str], int]:
    """Return the regressions with all proven Python repairs together, and the number of compared operators.

    It is only run after a hunt of all operators.
    """
    fixes = [fix for one in repairs if one.proven for fix in one.fixes]
    drafts = {path: draft.only(fixes) for path, draft in search.drafts.items()}
    if wanted.operators is not None or wanted.fuzz is not None or not fixes:
        return [], 0
    bench = search.bench
    changed = bench.variant(drafts, native=False)
    progress(f"all repairs at once: the {len(found.passed)} {wanted.kind} that passed before")
    lost = no_longer_passing(found, changed, bench.laboratory, wanted.jobs, counted)
    operators: Sequence[Operator] = [*found.passed, *found.failed, *found.untestable]
    place = locate(None, wanted.torch_python)
    if wanted.kind != OPERATORS:
        operators = operators_of(bench.laboratory, place)
    unequal, compared = no_longer_equal(operators, changed, bench.laboratory, place, wanted.jobs, progress)
    return [*lost, *unequal], compared


def _search(search: Search, progress: Callable[[str], None], rounds: Sequence[int] = _ROUNDS) -> None:
    """Search until each operator that passes does so with only its own repair, on all samples."""
    for number in rounds:
        with search.bench.timing.phase(_SEARCH):
            finished = search.run(SOME, progress, number)
            again = search.complete(progress)
        if finished and not again:
            break


def _refused(search: Search, repairs: Sequence[Repair]) -> bool:
    """Drop the steps that the full run did not confirm. Return whether another candidate can be tried."""
    for one in repairs:
        said = one.verification
        if said is not None and not one.proven:
            places = (place.rpartition(":") for place in said.unrun)
            unrun = [(Path(file), int(line)) for file, _, line in places]
            idle = unrun if said.verdict is Verdict.UNVERIFIABLE else []
            search.refuse(one.operators, f"{said.verdict.value}: {said.reason}", SOME, idle)
    return search.open


def _native(
    wanted: RepairRequest, surroundings: TorchSurroundings, scratch: Path, progress: Callable[[str], None]
) -> Native | None:
    if wanted.torch_root is None:
        return None
    toolchain = find_toolchain(surroundings.place, wanted.torch_root)
    builder = Builder(toolchain, scratch, wanted.jobs, progress=progress)
    derivatives = operators_by_formula(surroundings.place.package)
    return Native(wanted.torch_root, builder, TorchApi.load(None, wanted.torch_python), derivatives)


def _translations(wanted: RepairRequest, target: TorchApi, progress: Callable[[str], None]) -> Translations | None:
    if wanted.torch_root is None:
        return None
    try:
        return Translations.of_tree(wanted.torch_root, target)
    except TorchError as error:
        progress(f"nothing is translated: {error}")
        return None


def _journal(installed: str) -> Path:
    return cache_folder.folder("repair") / f"{hashlib.sha256(installed.encode()).hexdigest()[:24]}.jsonl"


def _hand_overs(
    wanted: RepairRequest, search: Search, repairs: Sequence[Repair], failures: dict[str, Failure]
) -> list[Unrepaired]:
    proven = {name for one in repairs if one.proven for name in one.operators}
    unproven = {name: one for one in repairs if not one.proven for name in one.operators}
    found = []
    for name, failure in sorted(failures.items()):
        if name in proven:
            continue
        trial = search.trials[name]
        attempts = [one for one in search.attempts if name in one.operators]
        tried = tuple((one.candidate.words, one.came) for one in attempts) + _untranslated(trial, search)
        spots = tuple(SourceSpan(str(at.file), at.line, at.function) for at in failure.path[:4] or ())
        reason = _reason(name, trial, search, failure, attempts)
        message = strip_advice(trial.message or failure.message)
        if name in unproven:
            verification = unproven[name].verification
            reason = "not-proven"
            message = verification.reason if verification else unproven[name].doubt
        found.append(
            Unrepaired(
                name,
                reason,
                message,
                failure.sample,
                spots,
                tried,
                failure.mode.value,
                failure.arguments,
                failure.formula,
                wanted.kind,
                wanted.protocol,
            )
        )
    return found


def _untranslated(trial: Trial, search: Search) -> tuple[tuple[str, str], ...]:
    """Return the refused translations of composed operators, with the reasons."""
    translations = search.advisors.translations
    refused = translations.refused if translations else {}
    composed = [frame.composed for frame in trial.frames if frame.composed in refused]
    return tuple((f"translation of `{one}`", f"refused: {refused[one]}") for one in composed)


def _reason(name: str, trial: Trial, search: Search, failure: Failure, attempts: Sequence[Attempt]) -> str:
    if name in search.mended_by_swap:
        return "swap-alone"
    if failure.only_test:
        return "only-the-test"
    if search.bench.unswapped(name):
        return "signature-differs"
    if failure.mode in (Mode.NOT_OURS, Mode.DATA_DEPENDENT, Mode.NO_SHAPE_FUNCTION):
        return failure.mode.name.lower().replace("_", "-")
    if not trial.frames:
        return "no-place"
    silent = any(name in attempt.deviating for attempt in attempts)
    if trial.frames[0].native and name not in search.bench.swapped and not silent:
        return "no-source"
    if not all(attempt.built for attempt in attempts):
        return "does-not-compile"
    if silent:
        return "other-result"
    return "no-candidate-helps" if attempts else "no-candidate"
