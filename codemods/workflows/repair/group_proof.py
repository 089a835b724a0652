"""Verification of groups of fixes: all tests that run changed code are run before and after."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from ...harness.opinfo_runner import BACKWARD, CALLS, DYNAMIC, HOPS, INDUCTOR, MODULES, OPERATORS, UNBACKED
from ...harness.process_limits import Limits
from ...harness.torch_variant import Harness
from ...torchapi.torch_finder import TorchInstallation
from ...verify.before_after import Side
from ...verify.change import Change
from ...verify.command import VerifySession, verify
from ...verify.request import VerifyRequest
from .edited_file import EditedFile
from .groups import FixGroup, only
from .progress_metric import expression
from .result import Repair, SourceSpan
from .trials import Trial

SAMPLES = 4
"""Number of inputs of an operator that are traced, once with backed and once with unbacked symbols."""
_OWN = {
    OPERATORS: (BACKWARD,),
    MODULES: (f"{MODULES} eager", f"{MODULES} {UNBACKED}", f"{MODULES} {BACKWARD}"),
    HOPS: (f"{HOPS} eager", f"{HOPS} {UNBACKED}"),
    CALLS: (f"{CALLS} eager", f"{CALLS} {UNBACKED}"),
}
"""Protocols for a repair's own test cases, in addition to those for all operators. Training must still work as
before."""
_APART = (DYNAMIC, INDUCTOR)
"""Protocols that only the proofs of their own repairs run."""
_LIMITS = Limits(wall=900)
_MORE_SAMPLES = 24
"""Number of inputs if the first ones fail neither before nor after, or if they leave a changed line unrun."""


Proven = Callable[[Repair, Side, Side], None]
"""Function that receives a proven repair while the processes of torch before and after it still run."""


@dataclass(frozen=True)
class Prover:
    """Prover that builds repairs from groups and verifies each."""

    place: TorchInstallation
    torch_root: Path | None
    torch_python: Path | None
    jobs: int
    fresh: bool
    opinfos: Mapping[str, str]
    """Name of each operator's OpInfo, or of its module, without the variant."""
    kind: str
    protocol: str
    progress: Callable[[str], None]
    executor: Executor | None = None
    ready: Harness | None = None
    """Laboratory that forks from a process with the installed torch and replays scripts."""
    proven: Proven | None = None

    def repair(
        self,
        group: FixGroup,
        drafts: Mapping[Path, EditedFile],
        first: Mapping[str, Trial],
        passing: tuple[str, ...] = (),
    ) -> Repair:
        """Build an unverified repair from a group. All samples of its ``passing`` operators passed."""
        drafts = only(drafts, [group])
        changes, files = [], []
        as_tried = True
        for path, draft in sorted(drafts.items()):
            if draft.taken:
                after = draft.language.polish(draft.source, draft.now.content, draft.context)
                changes.append(Change(path, draft.source.content, after))
                as_tried = as_tried and _same_code(draft, after)
                files.append(self._name(path))
        fixes = tuple(fix for member in group.members for fix in member.fixes)
        spots = []
        for member in group.members:
            source = drafts[member.path].source
            for fix in member.fixes:
                function = fix.function or member.candidate.site.function
                start = min(fix.start, len(source.content))
                spots.append(SourceSpan(self._name(member.path), source.line_column(start)[0], function))
        native = any(path.suffix != ".py" for path in drafts if drafts[path].taken)
        baseline = f"torch {self.place.version}"
        return Repair(
            _slug(spots),
            group.operators,
            {name: first[name].sample for name in group.operators},
            {name: expression(first[name].message) for name in group.operators},
            tuple(changes),
            tuple(files),
            fixes,
            tuple(spots),
            f"{baseline} with the source tree's kernels" if native else baseline,
            kind=self.kind,
            protocol=self.protocol,
            passing=passing if as_tried else (),
        )

    def prove(self, repair: Repair, beside: Sequence[str] = ()) -> Repair:
        """Return the repair with its verdict, from its own operators and those that run changed code.

        ``beside`` are operators that exceeded a time limit when the repair was tried, so that its effect is unknown.
        """
        own = tuple(dict.fromkeys(self.opinfos[name] for name in (*repair.operators, *beside)))
        protocols = [*_OWN[self.kind], *(one for one in _APART if one == self.protocol)]
        tasks = [(name, protocol) for name in own for protocol in protocols]
        request = VerifyRequest(
            repair.changes,
            operators=own if self.kind == OPERATORS else (),
            tasks=tuple(tasks),
            complete=True,
            samples=SAMPLES,
            more=_MORE_SAMPLES,
        )
        session = VerifySession(
            torch_python=self.torch_python,
            torch_root=self.torch_root if any(one.path.suffix != ".py" for one in repair.changes) else None,
            jobs=self.jobs,
            executor=self.executor,
            limits=_LIMITS,
            ready=replace(self.ready, limits=_LIMITS) if self.ready is not None else None,
            fresh=self.fresh,
            progress=self.progress,
            proven=partial(self.proven, repair) if self.proven else None,
        )
        return replace(repair, verification=verify(request, session))

    def _name(self, path: Path) -> str:
        roots = [self.place.package.parent, *((self.torch_root,) if self.torch_root else ())]
        for root in roots:
            if path.is_relative_to(root):
                return path.relative_to(root).as_posix()
        return path.name


def _same_code(draft: EditedFile, written: bytes) -> bool:
    """Return whether a draft and the written text differ only in layout. C++ texts have to be identical."""
    tried = draft.now.content
    return tried == written or (draft.source.path.suffix == ".py" and draft.language.same_code(tried, written))


def _slug(spots: Sequence[SourceSpan]) -> str:
    first = spots[0]
    file = Path(first.file).with_suffix("").as_posix().removeprefix("torch/").removeprefix("aten/src/ATen/")
    return f"{file.replace('/__init__', '').replace('/', '-').strip('_')}-{first.function.rpartition('.')[2]}".lower()
