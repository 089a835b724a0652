"""One run of the selected rules over the paths: the first step of ``check``, ``diff``, ``fix`` and a series."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from ..engine.file_discovery import DiscoveredFile, find
from ..engine.fixpoint import FixOptions
from ..engine.registry import Registry
from ..engine.run import CheckRequest, RunReport, default_jobs, run
from ..engine.torch_context import TorchSurroundings
from ..system import repository
from ..system.atomic_write import is_leaving
from ..system.generated_files import is_own
from ..system.suggestions import nearest
from ..torchapi.errors import TorchError
from .arguments import STDIN, Examination, RuleSelection
from .progress import Progress
from .torch_tree import tree_meant


@dataclass(frozen=True)
class Session:
    """Request, torch and report of one run."""

    question: CheckRequest
    surroundings: TorchSurroundings
    report: RunReport


def only_new(session: Session, baseline: Path | None, asked: Examination) -> RunReport:
    """Return the report, without the findings recorded in the baseline if there is one."""
    if not baseline:
        return session.report
    from . import baseline_update

    return baseline_update.only_new(session.report, baseline, session.question, session.surroundings, asked)


def request_of(asked: RuleSelection, root: Path | None, wishes: FixOptions) -> tuple[CheckRequest, TorchSurroundings]:
    """Return the selected rules and the torch, of the tree ``root`` if there is one."""
    surroundings = TorchSurroundings(
        root,
        asked.torch_python,
        asked.min_torch,
        all_functions=asked.all_functions,
        modules=asked.modules,
        drop_torchscript=asked.drop_torchscript,
        # A tree that was only detected, not named, must not have its code executed.
        installed_torchgen=asked.installed_torchgen or asked.torch_root is None,
    )
    registry = Registry()
    rules = _chosen(registry, asked.select, asked.ignore)
    return CheckRequest(rules, wishes, registry, asked.all_functions or asked.modules), surroundings


def examine(
    asked: Examination,
    *,
    polish: bool = True,
    apply: bool = True,
    verifying: bool = False,
    executor: str | None = None,
) -> Session:
    """Run the selected rules over the paths, on the workers of the executor if one is named."""
    if executor is not None and (asked.torch_root is not None or asked.torch_python is not None):
        raise click.UsageError("--executor goes by the torch that is installed here and on the workers")
    named = [asked.stdin_filename] if STDIN in asked.paths and asked.stdin_filename else asked.paths
    root = None if executor else tree_meant(asked, named, verifying=verifying)
    question, surroundings = request_of(asked, root, FixOptions(asked.unsafe_fixes, polish, apply=apply))
    suffixes = question.registry.walked(question.rules)
    jobs = asked.jobs or default_jobs()
    try:
        with Progress(quiet=asked.quiet) as progress:
            progress.say("files")
            targets = _targets(asked, suffixes)
            if executor is None:
                report = run(targets, question, surroundings, jobs=jobs, progress=progress)
            else:
                report = _run_far(executor, targets, question, surroundings, progress)
            return Session(question, surroundings, report)
    except TorchError as error:
        raise click.ClickException(str(error)) from None


def _run_far(
    executor: str,
    targets: list[DiscoveredFile],
    question: CheckRequest,
    surroundings: TorchSurroundings,
    progress: Progress,
) -> RunReport:
    from ..engine.remote import spread_far
    from ..system.cluster import NoCluster, UnlikeWorker, cluster

    try:
        with cluster(executor) as workers:
            return run(targets, question, surroundings, executor=workers, spread=spread_far, progress=progress)
    except (NoCluster, UnlikeWorker) as error:
        raise click.ClickException(str(error)) from None


def _targets(asked: Examination, suffixes: frozenset[str]) -> list[DiscoveredFile]:
    paths = asked.paths
    if STDIN not in paths:
        found = list(find(paths, suffixes, asked.exclude))
        if asked.since is None:
            return found
        try:
            pairs = [pair for path in paths for pair in repository.changed(asked.since, path)]
        except repository.GitFailed as error:
            raise click.UsageError(f"--since {asked.since}: {error}") from None
        differing = {str(top / name) for top, name in pairs}
        return [target for target in found if target.located in differing]
    name = asked.stdin_filename
    if name is None:
        raise click.UsageError("'-' needs --stdin-filename: its suffix says the language")
    if len(paths) > 1:
        raise click.UsageError("'-' stands alone")
    return [DiscoveredFile.of(name, sys.stdin.buffer.read())]


def _chosen(registry: Registry, select: Sequence[str] | None, ignore: Sequence[str]) -> frozenset[str]:
    known = {card.name for card in registry.rules}
    for name in (*(select or ()), *ignore):
        if name not in known:
            raise click.UsageError(f"no rule {name!r}{nearest(name, known)}; `symfix rule` lists them")
    return frozenset(select or known) - frozenset(ignore)


def refuse_dirty(paths: Sequence[Path]) -> None:
    """Raise ClickException if git could not restore a file that will be written."""
    unkept = [path for path in repository.outside(paths) if path.exists()]
    if unkept:
        more = f" and {len(unkept) - 1} more" if len(unkept) > 1 else ""
        raise click.ClickException(
            f"{unkept[0]}{more}: in no git repository, so nothing could bring back what is written; say --allow-dirty"
        )
    try:
        dirty = repository.dirty(paths, lambda path: is_leaving(path) or is_own(path))
    except repository.GitMissing as error:
        raise click.ClickException(f"{error}; --allow-dirty goes on without it") from None
    if dirty:
        more = f" and {len(dirty) - 1} more" if len(dirty) > 1 else ""
        raise click.ClickException(f"{dirty[0]}{more}: not committed; commit or stash first, or say --allow-dirty")
