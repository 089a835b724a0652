"""Entry point of `symfix verify`: the proof of a set of changes against the installed torch."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path

from ..harness.opinfo_runner import PROTOCOLS, SAMPLES, Task
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
from .procedure import Procedure
from .project.extension import Commands, Memory, project_limits, verify_project
from .request import VerifyRequest
from .user_scripts import Memory as Replayed

CPP_SUFFIXES = frozenset((".cpp", ".cc", ".cxx"))


def verify(
    changes: Sequence[Change],
    *,
    repros: Sequence[Path] = (),
    tests: Sequence[str] = (),
    builds: Sequence[str] = (),
    operators: Sequence[str] | None = None,
    bystanders: Sequence[str] = (),
    tasks: Sequence[Task] = (),
    complete: bool = False,
    protocols: Sequence[str] = PROTOCOLS,
    samples: int = SAMPLES,
    more: int = 0,
    against_installed: bool = False,
    torch_python: Path | None = None,
    torch_root: Path | None = None,
    compiler: str | None = None,
    jobs: int = 2,
    limits: Limits | None = None,
    evidence_folder: Path | None = None,
    fresh: bool = False,
    memory: Memory | None = None,
    replays: Replayed | None = None,
    timeout: float | None = None,
    drop_torchscript: bool = False,
    executor: Executor | None = None,
    ready: Harness | None = None,
    proven: Callable[[Side, Side], None] | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Verification:
    """Build the changed files before and after, swap them into the installed torch, and run the tests.

    ``tests`` are commands run on this machine, with torch changed in every Python process they start. ``operators``
    names OpInfos to run under ``protocols``. None chooses those that reach the change, unless there are ``repros`` or
    ``tests``. With ``complete``, those that reach the change are run in addition to ``operators``.

    ``bystanders`` are run too, only on torch's own samples, and ``tasks``, each by its own protocol. At most
    ``samples`` inputs of each are traced. The number is ``more`` if these show no difference or leave a changed line
    unrun. ``against_installed`` compares the files after with the installed torch. A cached answer in
    ``evidence_folder`` is returned unless ``fresh``.

    With ``builds``, the files belong to a project of the user. These commands build it in scratch copies, where
    ``tests`` and ``repros`` run too. The same holds for Python files outside of torch.

    ``memory`` caches the results of the project's sides between calls. ``replays`` caches those of scripts on the
    installed torch and on the files before. ``ready`` is a fork server with the installed torch, if the caller has one.
    ``proven`` is called with torch before and after a change that is newly proven on this machine, while both run.
    ``timeout`` applies to each of a project's commands. With ``drop_torchscript``, a project's function that
    TorchScript compiled before may fail to compile after. Operator tests of uncompiled changes run on the workers of
    ``executor``, if given.

    Raises a TorchError if there is no usable torch, and SandboxMissing if the machine lacks what ``limits`` require.
    """
    started = time.monotonic()
    place = locate(None, torch_python)
    cpp = [change for change in changes if change.path.suffix in CPP_SUFFIXES]
    answer = Verification(Verdict.UNVERIFIABLE, "", tuple(str(change.path) for change in changes), torch=place.build)
    keeper = evidence_folder or cache_folder.folder("evidence")
    try:
        commands = Commands(tuple(builds), tuple(tests), tuple(repros), drop_torchscript)
        if builds or (commands.tests_anything and _is_elsewhere(changes, place, torch_root)):
            return _verified_project(changes, commands, answer, place, keeper, memory, timeout, limits, jobs, progress)
        modules = _modules([change for change in changes if change not in cpp], place, torch_root)
        toolchain = find_toolchain(place, torch_root, compiler, [change.path for change in cpp]) if cpp else None
    except (Unplaced, CompilerMissing) as obstacle:
        return replace(answer, reason=str(obstacle), seconds=time.monotonic() - started)
    question = VerifyRequest(
        cpp=tuple(cpp),
        modules=modules,
        repros=tuple(repro.resolve() for repro in repros),
        tests=tuple(tests),
        folder=Path.cwd(),
        operators=() if operators is None and (repros or tests) else None if operators is None else tuple(operators),
        bystanders=tuple(bystanders),
        tasks=tuple(tasks),
        complete=complete,
        protocols=tuple(protocols),
        samples=samples,
        more=more,
        against_installed=against_installed,
    )
    key = _key(question, place, toolchain)
    # A command may read any file, so its result is never cached.
    known = None if fresh or tests else recall(keeper, key)
    if known is not None:
        return known
    # In bubblewrap, children of `ready` can write only below its folder, and C++ counts its lines where it is built.
    with scratch_folder(ready.scratch if ready else None) as scratch:
        lab = laboratory(place.python, scratch, limits or Limits(), executor)
        api = TorchApi.load(None, torch_python) if cpp else None
        answer = replace(answer, compiler=toolchain.version if toolchain else "")
        answer = Procedure(lab, place, api, toolchain, jobs, progress, replays, ready).answer(question, answer, proven)
    return keep(replace(answer, seconds=round(time.monotonic() - started, 2)), keeper, key)


def _verified_project(
    changes: Sequence[Change],
    commands: Commands,
    blank: Verification,
    place: TorchInstallation,
    keeper: Path,
    memory: Memory | None,
    timeout: float | None,
    limits: Limits | None,
    jobs: int,
    progress: Callable[[str], None],
) -> Verification:
    limits = project_limits(timeout, limits.network if limits else Network.LEFT_IF_POSSIBLE)
    with scratch_folder() as scratch:
        answer = verify_project(
            changes,
            commands,
            blank,
            place=place,
            scratch=scratch,
            limits=limits,
            jobs=jobs,
            memory=memory,
            progress=progress,
        )
    parts = [part for change in changes for part in (str(change.path).encode(), change.before, change.after)]
    return keep(answer, keeper, question_key([repr(commands).encode(), place.build.encode(), *parts]))


def _is_elsewhere(changes: Sequence[Change], place: TorchInstallation, torch_root: Path | None) -> bool:
    """Return whether all files are Python files outside of the installed torch and of its source trees."""
    for change in changes:
        if any((folder / "aten" / "src" / "ATen").is_dir() for folder in change.path.resolve().parents):
            return False
        try:
            if change.path.suffix != ".py" or _modules([change], place, torch_root):
                return False
        except Unplaced:
            continue
    return bool(changes)


def _modules(changes: Sequence[Change], place: TorchInstallation, torch_root: Path | None) -> Mapping[str, Change]:
    roots = [place.package.parent, *((torch_root,) if torch_root else ())]
    return {module_name(change.path, roots): change for change in changes}


def _key(question: VerifyRequest, place: TorchInstallation, toolchain: Toolchain | None) -> str:
    parts = [
        place.build,
        str(place.package),
        toolchain.identity if toolchain else "",
        repr((question.operators, question.complete, question.bystanders, question.tests)),
    ]
    contents = []
    for change in (*question.cpp, *question.modules.values()):
        contents += [str(change.path.resolve()).encode(), change.before, change.after]
    for repro in question.repros:
        contents += [str(repro).encode(), repro.read_bytes()]
    return question_key(
        [
            *(part.encode() for part in parts),
            repr(
                (question.protocols, question.tasks, question.samples, question.more, question.against_installed)
            ).encode(),
            *contents,
        ]
    )
