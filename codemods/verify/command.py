"""Entry point of `symfix verify`: the proof of a set of changes against the installed torch."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, fields, replace
from pathlib import Path

from ..harness.process_limits import Limits, Network
from ..harness.remote import laboratory
from ..harness.temp_folder import scratch_folder
from ..harness.torch_variant import Harness
from ..system import cache_folder
from ..torchapi import TorchApi
from ..torchapi.torch_finder import TorchInstallation, locate
from .before_after import Side
from .build.modules import Unplaced, module_name
from .build.toolchain import CompilerMissing, Toolchain, find_toolchain
from .change import Change, Verdict, Verification
from .evidence import keep, question_key, recall
from .procedure import Procedure, TorchUnderTest
from .project.extension import Commands, Memory, ProjectSession, project_limits, verify_project
from .request import PlacedRequest, VerifyRequest
from .user_scripts import Memory as Replayed

CPP_SUFFIXES = frozenset((".cpp", ".cc", ".cxx"))
_NO_OPTIONS = ("changes", "cpp", "modules", "repros", "folder")
"""Fields of a request that its key has by content, and the folder of commands, whose results are never cached."""


@dataclass
class VerifySession:
    """Torch and machine of verifications, and what they keep between them."""

    torch_python: Path | None = None
    torch_root: Path | None = None
    compiler: str | None = None
    jobs: int = 2
    limits: Limits | None = None
    timeout: float | None = None
    """Limit in seconds on each of a project's commands."""
    evidence_folder: Path | None = None
    """Folder of the cached answers. None is that of the user's cache."""
    fresh: bool = False
    """True if no cached answer is returned."""
    memory: Memory | None = None
    """Results of the sides of a project."""
    replays: Replayed | None = None
    """Results of scripts on the installed torch and on the files before."""
    executor: Executor | None = None
    """Workers on which operator tests of uncompiled changes run."""
    ready: Harness | None = None
    """Fork server with the installed torch."""
    proven: Callable[[Side, Side], None] | None = None
    """Function called with torch before and after a change that is newly proven on this machine, while both run."""
    progress: Callable[[str], None] = lambda _: None

    @property
    def keeper(self) -> Path:
        """Return the folder of the cached answers."""
        return self.evidence_folder or cache_folder.folder("evidence")


def verify(request: VerifyRequest, session: VerifySession | None = None) -> Verification:
    """Build the changed files before and after, swap them into the installed torch, and run the tests.

    Files of a project of the user are built and tested in scratch copies of it instead: those with ``builds``, and
    Python files outside of torch.

    Raises a TorchError if there is no usable torch, and SandboxMissing if the machine lacks what the limits require.
    """
    session = session or VerifySession()
    started = time.monotonic()
    place = locate(None, session.torch_python)
    blank = Verification(Verdict.UNVERIFIABLE, "", tuple(str(one.path) for one in request.changes), torch=place.build)
    try:
        if request.builds or ((request.tests or request.repros) and _is_elsewhere(request, place, session.torch_root)):
            return _verify_in_project(request, session, blank, place)
        placed = _placed(request, place, session.torch_root)
        files = [change.path for change in placed.cpp]
        toolchain = find_toolchain(place, session.torch_root, session.compiler, files) if files else None
    except (Unplaced, CompilerMissing) as obstacle:
        return replace(blank, reason=str(obstacle), seconds=time.monotonic() - started)
    key = _key(placed, place, toolchain)
    # A command may read any file, so its result is never cached.
    known = None if session.fresh or request.tests else recall(session.keeper, key)
    if known is not None:
        return known
    ready = session.ready
    # In bubblewrap, children of `ready` can write only below its folder, and C++ counts its lines where it is built.
    with scratch_folder(ready.scratch if ready else None) as scratch:
        lab = laboratory(place.python, scratch, session.limits or Limits(), session.executor)
        api = TorchApi.load(None, session.torch_python) if files else None
        answer = replace(blank, compiler=toolchain.version if toolchain else "")
        torch = TorchUnderTest(place, api, toolchain)
        procedure = Procedure(lab, torch, session.jobs, session.progress, session.replays, ready)
        answer = procedure.answer(placed, answer, session.proven)
    return keep(replace(answer, seconds=round(time.monotonic() - started, 2)), session.keeper, key)


def _placed(request: VerifyRequest, place: TorchInstallation, torch_root: Path | None) -> PlacedRequest:
    """Return the request with the places of its files. Raises Unplaced."""
    given = {one.name: getattr(request, one.name) for one in fields(request)}
    given["repros"] = tuple(repro.resolve() for repro in request.repros)
    if request.operators is None and (request.repros or request.tests):
        given["operators"] = ()
    cpp = tuple(change for change in request.changes if change.path.suffix in CPP_SUFFIXES)
    modules = _modules([change for change in request.changes if change not in cpp], place, torch_root)
    return PlacedRequest(**given, cpp=cpp, modules=modules, folder=Path.cwd())


def _verify_in_project(
    request: VerifyRequest, session: VerifySession, blank: Verification, place: TorchInstallation
) -> Verification:
    commands = Commands(request.builds, request.tests, request.repros, request.drop_torchscript)
    network = session.limits.network if session.limits else Network.LEFT_IF_POSSIBLE
    with scratch_folder() as scratch:
        answer = verify_project(
            request.changes,
            commands,
            blank,
            ProjectSession(
                place,
                scratch,
                project_limits(session.timeout, network),
                jobs=session.jobs,
                memory=session.memory,
                progress=session.progress,
            ),
        )
    parts = [part for change in request.changes for part in (str(change.path).encode(), change.before, change.after)]
    return keep(answer, session.keeper, question_key([repr(commands).encode(), place.build.encode(), *parts]))


def _is_elsewhere(request: VerifyRequest, place: TorchInstallation, torch_root: Path | None) -> bool:
    """Return whether all files are Python files outside of the installed torch and of its source trees."""
    for change in request.changes:
        if any((folder / "aten" / "src" / "ATen").is_dir() for folder in change.path.resolve().parents):
            return False
        try:
            if change.path.suffix != ".py" or _modules([change], place, torch_root):
                return False
        except Unplaced:
            continue
    return bool(request.changes)


def _modules(changes: Sequence[Change], place: TorchInstallation, torch_root: Path | None) -> Mapping[str, Change]:
    roots = [place.package.parent, *((torch_root,) if torch_root else ())]
    return {module_name(change.path, roots): change for change in changes}


def _key(request: PlacedRequest, place: TorchInstallation, toolchain: Toolchain | None) -> str:
    """Return the key of a cached answer: torch, toolchain, the files before and after, scripts, and all options."""
    parts = [place.build.encode(), str(place.package).encode(), (toolchain.identity if toolchain else "").encode()]
    for change in (*request.cpp, *request.modules.values()):
        parts += [str(change.path.resolve()).encode(), change.before, change.after]
    for repro in request.repros:
        parts += [str(repro).encode(), repro.read_bytes()]
    options = [(one.name, getattr(request, one.name)) for one in fields(request) if one.name not in _NO_OPTIONS]
    return question_key([*parts, repr(options).encode()])
