"""User's own project, built and tested by its own commands before and after a change, each in a scratch copy."""

from __future__ import annotations

import json
import os
import shlex
import time
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...harness.process_limits import GIB, Limits, Network, run
from ...harness.temp_folder import new_name
from ...torchapi.torch_finder import TorchInstallation
from ..change import Change, Check, Verdict, Verification
from ..choose.changed_functions import changed_callables
from ..compare.captures import TRACERS, is_traced
from ..verdict import decide
from .extension_tests import Ran, compare_runs, read
from .extension_trees import WATCHER, NoProject, ProjectCopy, ProjectFolder, clean, find_project, plant

SECONDS = 3600.0
"""Default limit on the time of a build or a test command."""
_CONFIRMATIONS = 2
"""Number of repetitions of a run that went worse, which leads to a rollback. A run that went better is repeated
once."""
_NO_NETWORK = ("No matching distribution found", "name resolution", "Network is unreachable")


@dataclass(frozen=True)
class Commands:
    """Commands of the user in a project: ``builds`` in order, then ``tests`` and ``repros`` (Python scripts)."""

    builds: tuple[str, ...]
    tests: tuple[str, ...]
    repros: tuple[Path, ...] = ()
    drop_torchscript: bool = False
    """True if a function that TorchScript compiled before need not compile after."""

    @property
    def tests_anything(self) -> bool:
        return bool(self.tests or self.repros)


@dataclass
class _Seen:
    """Results of one side: its build, and each run of each command."""

    build: Ran | None = None
    runs: dict[str, list[Ran]] = field(default_factory=dict)


Memory = MutableMapping[str, _Seen]
"""Cached results of sides, valid until the project is modified."""


@dataclass(frozen=True)
class ProjectSession:
    """Torch and machine of verifications in a project."""

    place: TorchInstallation
    scratch: Path
    """Folder of the copies of the project."""
    limits: Limits
    """Limits on each command."""
    jobs: int = 2
    memory: Memory | None = None
    progress: Callable[[str], None] = lambda _: None


def verify_project(
    changes: Sequence[Change], commands: Commands, blank: Verification, session: ProjectSession
) -> Verification:
    """Fill the verdict on ``changes`` by the project's own tests into ``blank``, and return it.

    The project is only read.
    """
    started = time.monotonic()
    try:
        project = find_project([change.path for change in changes])
        sides = _sides(project, changes, commands, session)
        answer = _Trial(commands, changes, project, session.jobs, session.progress).answer(*sides, blank)
    except NoProject as obstacle:
        answer = replace(blank, reason=str(obstacle))
    return replace(answer, seconds=round(time.monotonic() - started, 2))


def project_limits(seconds: float | None = None, network: Network = Network.LEFT_IF_POSSIBLE) -> Limits:
    """Return the limits of a build or a test command, with ``seconds`` of wall clock."""
    wall = seconds or SECONDS
    return Limits(wall=wall, cpu=int(wall * (os.cpu_count() or 1)), file=4 * GIB, network=network)


@dataclass
class _Side:
    """Project before or after the change, copied and built at the first use."""

    name: str
    project: ProjectFolder
    contents: Mapping[Path, bytes]
    commands: Commands
    session: ProjectSession
    scratch: Path
    seen: _Seen
    traced: Mapping[str, Mapping[int, str]]
    """Changed functions of this side, by the last two parts of their file and by their first line."""
    _tree: ProjectCopy | None = field(default=None, init=False)

    def build(self) -> Ran | None:
        """Return the result of the build, or None if there is nothing to build."""
        if self.seen.build is None and self.commands.builds:
            self._planted()
        return self.seen.build

    def run(self, number: int, key: str, words: str) -> Ran:
        """Return run ``number`` of a command, counted from 0. ``key`` distinguishes commands."""
        runs = self.seen.runs.setdefault(key, [])
        while len(runs) <= number:
            runs.append(self._run(self._planted(), words, watched=True))
        return runs[number]

    def untraced(self) -> tuple[str, ...]:
        """Return the changed functions without a traced call: not called, or rejected by all tracers."""
        runs = [ran for each in self.seen.runs.values() for ran in each]
        traced = {name.partition(":")[2] for ran in runs for name, one in ran.captures.items() if is_traced(one)}
        return tuple(sorted({name for names in self.traced.values() for name in names.values()} - traced))

    def own(self, path: str) -> bool:
        """Return whether a loaded file belongs to this copy or was installed from it."""
        return self.scratch in Path(path).parents

    def _planted(self) -> ProjectCopy:
        if self._tree is None:
            self._tree = tree = plant(self.project, self.scratch, self.session.place.python)
            for path, content in self.contents.items():
                tree.write(path, content)
            for words in self.commands.builds:
                ran = self._run(tree, words, watched=False)
                self.seen.build = ran
                if ran.code != 0:
                    break
        return self._tree

    def _run(self, tree: ProjectCopy, words: str, *, watched: bool) -> Ran:
        reports = self.scratch / new_name("watched")
        reports.mkdir()
        environment = self._environment(tree)
        if watched:
            environment["SYMFIX_WATCH"] = str(reports)
            if self.traced:
                listed = reports / "traced.json"
                dropped = {"script"} if self.commands.drop_torchscript else set[str]()
                tracers = [name for name in TRACERS if name not in dropped]
                listed.write_text(json.dumps({"tracers": tracers, "functions": self.traced}))
                environment["SYMFIX_TRACE"] = str(listed)
            if environment.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD"):
                # In this case pytest reads no entry points.
                plugins = environment.get("PYTEST_PLUGINS")
                environment["PYTEST_PLUGINS"] = ",".join(filter(None, (plugins, WATCHER)))
        ended = run(
            ["/bin/sh", "-c", words],
            scratch=self.scratch,
            limits=self.session.limits,
            cwd=tree.folder,
            environment=environment,
        )
        ran = read(ended, reports, tree.top)
        if ran.code and ended.offline and any(sign in ended.stdout + ended.stderr for sign in _NO_NETWORK):
            hint = "commands have no network here: with pip, --no-build-isolation"
            ran = replace(ran, message=f"{ran.message} ({hint})")
        return ran

    def _environment(self, tree: ProjectCopy) -> dict[str, str]:
        caches = self.scratch / "caches"
        caches.mkdir(exist_ok=True)
        environment = clean(os.environ)
        source = tree.folder / "src"
        # Tests must import the installed package. Without one, they import the files built in place.
        inside = "" if tree.installed else str(source if source.is_dir() else tree.folder)
        paths = {"PATH": str(tree.environment / "bin"), "PYTHONPATH": inside}
        for name, own in paths.items():
            environment[name] = os.pathsep.join(filter(None, (own, environment.get(name))))
        kept = ("TMPDIR", "TORCHINDUCTOR_CACHE_DIR", "TORCH_EXTENSIONS_DIR", "XDG_CACHE_HOME")
        return {
            "OMP_NUM_THREADS": "1",
            "MAX_JOBS": str(max(1, (os.cpu_count() or 1) // min(2, self.session.jobs))),
            **environment,
            **dict.fromkeys(kept, str(caches)),
            "VIRTUAL_ENV": str(tree.environment),
            "PYTHONHASHSEED": "0",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }


def _sides(
    project: ProjectFolder, changes: Sequence[Change], commands: Commands, session: ProjectSession
) -> tuple[_Side, _Side]:
    known: Memory = {} if session.memory is None else session.memory
    asked = repr((commands.builds, commands.tests, commands.repros, session.place.build))
    state = project.state(changes)
    found = []
    for name in ("before", "after"):
        contents = {change.path: change.before if name == "before" else change.after for change in changes}
        key = "\0".join((asked, state, repr(sorted((str(path), content) for path, content in contents.items()))))
        found.append(
            _Side(
                name,
                project,
                contents,
                commands,
                session,
                scratch=session.scratch / new_name(name),
                seen=known.setdefault(key, _Seen()),
                traced=_traced(changes, before=name == "before"),
            )
        )
    return found[0], found[1]


def _traced(changes: Sequence[Change], *, before: bool) -> dict[str, dict[int, str]]:
    """Return the changed functions of one side, by the last two parts of their file and by their first line."""
    found: dict[str, dict[int, str]] = {}
    for change in changes:
        if change.path.suffix == ".py":
            texts = (change.before, change.after) if before else (change.after, change.before)
            named = {one.line: one.qualname for one in changed_callables(*texts)}
            found["/".join(change.path.resolve().parts[-2:])] = named
    return found


class _Trial:
    """Build, test and comparison of both sides."""

    def __init__(
        self,
        commands: Commands,
        changes: Sequence[Change],
        project: ProjectFolder,
        jobs: int,
        progress: Callable[[str], None],
    ) -> None:
        self._changes = changes
        self._project = project
        self._progress = progress
        self._jobs = min(2, max(1, jobs))
        self._commands = [("test", words, words) for words in commands.tests]
        self._commands += [("repro", str(script), f"python {self._place(script)}") for script in commands.repros]
        self._builds = commands.builds

    def answer(self, before: _Side, after: _Side, blank: Verification) -> Verification:
        """Return the verdict and its evidence."""
        answer = replace(blank, commands=(*self._builds, *(words for _, _, words in self._commands)))
        checks = []
        if self._builds:
            self._progress(f"building before and after: {'; '.join(self._builds)}")
            was, now = self._both(before, after, lambda side: side.build())
            assert was is not None
            assert now is not None
            checks.append(Check("build", "; ".join(self._builds), was.observation, now.observation))
            if was.code != 0:
                reason = f"the project does not build before the change: {was.message}"
                return replace(answer, verdict=Verdict.BROKEN_BASELINE, reason=reason, checks=tuple(checks))
            if now.code != 0:
                reason = f"the project builds before the change and not after: {now.message}"
                return replace(answer, verdict=Verdict.REGRESSED, reason=reason, checks=tuple(checks))
        tested, loaded = self._tested(before, after)
        checks += tested
        own = (before, after)
        foreign = self._foreign([p for s in own for p in loaded[s.name] if not any(side.own(p) for side in own)])
        if foreign:
            reason = f"the tests load {foreign} of the project itself, not of the copy that was built"
            return replace(answer, verdict=Verdict.UNVERIFIABLE, reason=reason, checks=tuple(checks))
        verdict, reason = decide(tested, reached=self._reached(after, loaded["after"]))
        return replace(answer, verdict=verdict, reason=reason, checks=tuple(checks), untraced=after.untraced())

    def _tested(self, before: _Side, after: _Side) -> tuple[list[Check], dict[str, set[str]]]:
        checks: list[Check] = []
        loaded: dict[str, set[str]] = {"before": set(), "after": set()}
        for protocol, subject, words in self._commands:
            rounds: list[list[Check]] = []
            for number in range(1 + _CONFIRMATIONS):
                self._progress(f"running before and after: {words}" if not number else f"running again: {words}")
                runs = self._both(before, after, lambda side: side.run(number, words, words))  # noqa: B023
                for side, ran in zip((before, after), runs, strict=True):
                    loaded[side.name] |= ran.loaded
                rounds.append(compare_runs(subject, *runs, protocol))
                if not any(check.lost or (check.gained and not number) for check in rounds[-1]):
                    break
            checks += _confirmed(rounds)
        return checks, loaded

    def _both(self, before: _Side, after: _Side, ask: Callable[[_Side], Ran | None]) -> tuple[Ran, Ran]:
        with ThreadPoolExecutor(self._jobs) as pool:
            was, now = pool.map(ask, (before, after))
        return was, now  # type: ignore[return-value]

    def _place(self, script: Path) -> str:
        inside = script.resolve()
        if inside.is_relative_to(self._project.folder):
            return shlex.quote(str(inside.relative_to(self._project.folder)))
        return shlex.quote(str(inside))

    def _foreign(self, loaded: Sequence[str]) -> str | None:
        """Return a loaded file of the project itself, other than installed packages in it, or None."""
        for path in sorted(loaded):
            file = Path(path)
            if self._project.top in file.parents and not any(part.endswith("-packages") for part in file.parts):
                return str(file.relative_to(self._project.top))
        return None

    def _reached(self, after: _Side, loaded: set[str]) -> bool:
        """Return whether the tests loaded a changed file, or any library of the copy for other changes than Python.

        Return True if no Python process reported its files.
        """
        if not loaded:
            return True
        own = [Path(path) for path in loaded if after.own(path)]
        for change in self._changes:
            if change.path.suffix == ".py":
                if any(file.name == change.path.name and file.parent.name == change.path.parent.name for file in own):
                    return True
            elif any(".so" in file.name for file in own):
                return True
        return False


def _confirmed(rounds: Sequence[Sequence[Check]]) -> list[Check]:
    """Return the checks of the first round, marked flaky if a difference is not the same in each round."""
    found = []
    for check in rounds[0]:
        again = [{(item.protocol, item.subject): item for item in checks} for checks in rounds[1:]]
        if check.gained or check.lost:
            same = [item.get((check.protocol, check.subject)) for item in again]
            steady = all(item and (item.gained, item.lost) == (check.gained, check.lost) for item in same)
            found.append(check if steady else replace(check, flaky=True))
        else:
            found.append(check)
    return found
