"""Trials of drafts on the installed torch, with changed modules replaced and changed kernels swapped in."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from ....python.rewrite.registration import newly_registered
from ...harness.torch_variant import Harness, Variant
from ...verify.change import SWAPPED
from .candidates import CandidateSite, CandidateSources
from .cpp_build import NOT_COMPILED, DoesNotBuild, Native, plain_name
from .edited_file import EditedFile
from .groups import FixGroup, only
from .journal import TrialJournal
from .phase_times import Timing
from .trials import TorchFrame, Trial, Tried

_REGISTERS = b"py_impl"
_ONE_CHILD = 3
"""Largest number of operators of a group that one child tries. Larger groups are distributed among children."""

Drafts = Mapping[Path, EditedFile]
Tries = Callable[[Harness, Variant, Mapping[str, int], int, int], Tried]
"""Function that tries operators to their first failing sample. The numbers are a sample that each trial includes, a
limit on samples and the number of children."""


@dataclass
class TrialRunner:
    """Runner of trials on drafts, which also finds the places that failures name.

    ``module`` returns the name under which a variant contains a Python file. ``swapped`` are the operators that run on
    kernels of the source tree. ``kernels`` are the names of these kernels.
    """

    laboratory: Harness
    tries: Tries
    module: Callable[[Path], str]
    advisors: CandidateSources
    native: Native | None = None
    jobs: int = 2
    journal: TrialJournal = field(default_factory=lambda: TrialJournal(None, ""))
    quick: Harness | None = None
    """Laboratory in which operators are tried, or None for ``laboratory``."""
    swapped: set[str] = field(default_factory=set)
    kernels: set[str] = field(default_factory=set)
    named: dict[str, frozenset[str]] = field(default_factory=dict)
    """C++ functions that each swapped operator was in when it failed."""
    states: dict[str, str] = field(default_factory=dict)
    """Result for each kernel to swap in: ``swapped``, or the reason why torch rejected it."""
    timing: Timing = field(default_factory=Timing)
    frames: int = 4
    """Number of frames at which candidates are tried, the innermost first."""
    refused: dict[Path, str] = field(default_factory=dict)
    """C++ files that do not build against this torch without changes, with the reasons."""
    _variants: dict[tuple[object, ...], Variant] = field(default_factory=dict, repr=False)

    def sites(self, trial: Trial, drafts: dict[Path, EditedFile]) -> tuple[CandidateSite, ...]:
        """Return the places of torch where a failure could be fixed, innermost first. Add their files to ``drafts``."""
        found = []
        running = [frame for frame in trial.frames if not frame.operators][: self.frames]
        # Registrations come last: a fix at the failing line changes less.
        for frame in (*running, *(frame for frame in trial.frames if frame.operators)):
            path = self._home(frame)
            if path is None or path in self.refused or not path.is_file():
                continue
            if path not in drafts:
                draft = self.advisors.draft(path, path.read_bytes())
                if draft is None:
                    continue
                drafts[path] = draft
            draft = drafts[path]
            if frame.composed:
                found.append(CandidateSite(path, 0, frame.function, composed=frame.composed))
            elif frame.native:
                for function in (frame.function, *draft.language.callees(draft.source, frame.function)):
                    extent = draft.language.extent(draft.source, 0, function)
                    if extent is not None:
                        found.append(CandidateSite(path, extent[0], function))
            else:
                site = CandidateSite(path, draft.origin(draft.line_start(frame.line)), frame.function, frame.operators)
                self.advisors.note(site, frame.conditions)
                found.append(site)
        return tuple(dict.fromkeys(found))

    def _home(self, frame: TorchFrame) -> Path | None:
        """Return the file in which a frame's failure could be fixed."""
        if frame.composed:
            translations = self.advisors.translations
            return translations.home if translations and translations.of(frame.composed) else None
        return self._defines(frame.function) if frame.native else Path(frame.file)

    def try_on(self, drafts: Drafts, operators: Mapping[str, int], most: int = 0, whole: Collection[str] = ()) -> Tried:
        """Run the operators, each on its variant. Results in the journal are reused.

        Operators in ``whole`` are run on all samples. Those without kernels run while kernels are linked.
        """
        shares: dict[tuple[bool, int], dict[str, int]] = defaultdict(dict)
        for name, sample in operators.items():
            shares[name in self.swapped, 0 if name in whole else most][name] = sample
        with ThreadPoolExecutor(max(1, len(shares))) as pool:
            running = [
                pool.submit(self._tried, self.variant(drafts, native), share, samples)
                for (native, samples), share in sorted(shares.items())
            ]
        return Tried({name: trial for share in running for name, trial in share.result().items()})

    def try_alone(self, drafts: Drafts, found: Sequence[FixGroup], most: int = 0) -> list[dict[str, Trial]]:
        """Run the operators of each group with only that group's fixes, on all samples. Groups run in parallel."""
        trials: list[dict[str, Trial]] = [{} for _ in found]
        asked: list[tuple[int, Variant, dict[str, int]]] = []

        def built(group: FixGroup) -> Variant | DoesNotBuild:
            try:
                return self.variant(only(drafts, [group]), any(name in self.swapped for name in group.operators))
            except DoesNotBuild as failure:
                return failure

        with ThreadPoolExecutor(self.jobs) as pool:
            variants = list(pool.map(built, found))
        for number, (group, variant) in enumerate(zip(found, variants, strict=True)):
            if isinstance(variant, DoesNotBuild):
                trials[number] = {name: Trial(name, "failed", f"{NOT_COMPILED}: {variant}") for name in group.operators}
                continue
            shares = self.jobs if len(group.operators) > _ONE_CHILD else 1
            ordered = self.timing.longest_first(group.operators)
            for share in range(shares):
                asked.append((number, variant, dict.fromkeys(ordered[share::shares], -1)))
        asked.sort(key=lambda one: -sum(self.timing.operators.get(name, 0.0) for name in one[2]))

        def ask(one: tuple[int, Variant, dict[str, int]]) -> tuple[int, dict[str, Trial]]:
            number, variant, operators = one
            return number, self._tried(variant, operators, most, 1)

        with ThreadPoolExecutor(self.jobs) as pool:
            for number, tried in pool.map(ask, asked):
                trials[number] |= tried
        return trials

    def _tried(
        self, variant: Variant, operators: Mapping[str, int], most: int, jobs: int | None = None
    ) -> dict[str, Trial]:
        """Return the trials of the operators, from the journal or by new runs. Each key is run by only one thread."""
        keys = {name: self.journal.key(name, variant.identity, at, most) for name, at in operators.items()}
        with self.journal.asking(keys.values()) as own:
            asked = {name: at for name, at in operators.items() if keys[name] in own}
            trials = self._ask(variant, asked, keys, most, jobs) if asked else {}
        left = {name: at for name, at in operators.items() if name not in asked}
        self.journal.wait_for([keys[name] for name in left])
        trials |= {name: trial for name in left if (trial := self.journal.get(keys[name])) is not None}
        # A trial that met its limits in another thread is repeated here.
        left = {name: at for name, at in left.items() if name not in trials}
        return trials | self._tried(variant, left, most, jobs) if left else trials

    def _ask(
        self, variant: Variant, operators: Mapping[str, int], keys: Mapping[str, str], most: int, jobs: int | None
    ) -> dict[str, Trial]:
        ordered = {name: operators[name] for name in self.timing.longest_first(operators)}
        tried = self.tries(self.quick or self.laboratory, variant, ordered, most, jobs or self.jobs)
        self._note(variant, tried.states)
        for name, trial in tried.trials.items():
            self.timing.operators[name] += trial.seconds
        if tried.broken:
            return {name: Trial(name, "failed", tried.broken) for name in ordered}
        self.journal.add({keys[name]: trial for name, trial in tried.trials.items() if not trial.crashed})
        return tried.trials

    def swap_in(self, trials: Mapping[str, Trial], drafts: Drafts) -> dict[str, int]:
        """Run these operators on the source tree's kernels from now on, except those whose files do not build."""
        assert self.native is not None
        files = {path: draft.now.content for path, draft in drafts.items() if path.suffix != ".py"}
        self.native.start(files)
        for path, content in files.items():
            try:
                self.native.object(path, content)
            except DoesNotBuild as failure:
                self.refused[path] = failure.reason
        moved: dict[str, int] = {}
        for name, trial in trials.items():
            named = _functions(trial)
            homes = (self._defines(frame.function) for frame in trial.frames[: self.frames] if frame.native)
            home = next((path for path in homes if path is not None), None)
            if home in files and home not in self.refused:
                self.swapped.add(name)
                self.kernels |= named
                self.named[name] = self.named.get(name, frozenset()) | named
                moved[name] = trial.sample
        return moved

    def runs_swapped(self, name: str, trial: Trial) -> bool:
        """Return whether an operator runs on the source tree's kernels, including all that this failure was in."""
        assert self.native is not None
        new = _functions(trial) - self.named.get(name, frozenset())
        return name in self.swapped and not any(self.native.api.kernels(function) for function in new)

    def variant(self, drafts: Drafts, native: bool) -> Variant:
        """Return the installed torch with the drafts, including C++ drafts if ``native``. Raises DoesNotBuild."""
        taken = tuple((path, draft.taken) for path, draft in sorted(drafts.items()))
        key = (taken, native, frozenset(self.kernels), frozenset(self.refused))
        if key not in self._variants:
            self._variants[key] = self._laid_over(drafts, native)
        return self._variants[key]

    def _laid_over(self, drafts: Drafts, native: bool) -> Variant:
        modules: dict[str, Path] = {}
        registered: list[str] = []
        cpp: dict[Path, bytes] = {}
        digest = hashlib.sha256()
        for path, draft in sorted(drafts.items()):
            content = draft.now.content
            if path.suffix != ".py":
                unfit = None if draft.taken or path in self.refused else self.builds(path, draft)
                if unfit is not None:
                    self.refused[path] = unfit.reason
                if path not in self.refused:
                    cpp[path] = content
            elif draft.taken:
                name = self.module(path)
                modules[name] = self._written(path.stem, content)
                digest.update(name.encode() + content)
                # Only fixes that write a registration change one.
                if any(_REGISTERS in edit.text for fix in draft.taken for edit in fix.edits):
                    registered += newly_registered(draft.source.content, content)
        if not native or self.native is None or not cpp:
            return Variant("repaired", modules=modules, identity=digest.hexdigest(), registered=tuple(registered))
        library = self.native.library(cpp, frozenset(self.kernels))
        digest.update(repr(library.candidates).encode())
        for path, content in sorted(cpp.items()):
            digest.update(str(path).encode() + content)
        return Variant(
            "repaired", library.path, len(library.candidates), modules, digest.hexdigest(), registered=tuple(registered)
        )

    def builds(self, path: Path, draft: EditedFile) -> DoesNotBuild | None:
        """Return the compile error of a C++ draft, or None if it compiles or is Python."""
        if path.suffix == ".py" or self.native is None:
            return None
        try:
            self.native.object(path, draft.now.content)
        except DoesNotBuild as failure:
            return failure
        return None

    def has_room_beside(self, operators: Sequence[str]) -> bool:
        """Return whether a processor of this machine is idle while these operators are tried."""
        return self.quick is not None and len(operators) < self.jobs

    def start(self, drafts: Drafts) -> None:
        """Compile the C++ files of these drafts in parallel and store the results for `builds`."""
        files = {path: draft.now.content for path, draft in drafts.items() if path.suffix != ".py"}
        if self.native is not None and files:
            self.native.start(files)

    def unswapped(self, name: str) -> str:
        """Return the reasons if none of a swapped operator's kernels was accepted by torch, else ""."""
        seen = {kernel: self.states[kernel] for kernel in self.named.get(name, ()) if kernel in self.states}
        refused = [f"{kernel}: {state}" for kernel, state in sorted(seen.items()) if state != SWAPPED]
        return "; ".join(refused) if seen and len(refused) == len(seen) else ""

    def _note(self, variant: Variant, states: tuple[str, ...]) -> None:
        for library in self.native.linked if self.native is not None else ():
            if library.path == variant.library:
                for candidate, state in zip(library.candidates, states, strict=False):
                    # One name may have several signatures: it is enough that torch takes one.
                    if self.states.get(candidate.kernel) != SWAPPED:
                        self.states[candidate.kernel] = state

    def _written(self, name: str, content: bytes) -> Path:
        file = self.laboratory.scratch / f"{name}.{hashlib.sha256(content).hexdigest()[:16]}.py"
        if not file.is_file():
            file.write_bytes(content)
        return file

    def _defines(self, frame: str) -> Path | None:
        return self.native.home(frame) if self.native is not None else None


def _functions(trial: Trial) -> frozenset[str]:
    """Return the unqualified names of the C++ functions that a failure was in."""
    return frozenset(plain_name(frame.function) for frame in trial.frames if frame.native)
