"""``check``, ``diff`` and ``fix``: one run over the paths, shown in three ways."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from .. import repository
from ..intake import Target, find
from ..outcome import Changed, Outcome, Unchanged
from ..registry import Registry
from ..rounds import Wishes
from ..run import Question, Report, default_jobs, run
from ..surroundings import TorchSurroundings
from ..torchapi.errors import TorchError
from ..writing import is_leaving, write
from .progress import Progress
from .showing import exit_code, show

STDIN = Path("-")
Words = dict[str, Any]


@dataclass(frozen=True)
class _Session:
    """What was asked, of which torch, and what came of it."""

    question: Question
    surroundings: TorchSurroundings
    report: Report


def check(words: Words) -> int:
    """Print what could be fixed and what was left."""
    session = examine(words, polish=False)
    report = session.report
    if words["write_baseline"]:
        from .baselining import note

        return note(report, words["write_baseline"])
    report = only_new(session, words)
    show(report, session.surroundings, words, written=False)
    return exit_code(report.outcomes, words, findings=any(map(_has_findings, report.outcomes)))


def only_new(session: _Session, words: Words) -> Report:
    """The report, without what the baseline knows where there is one."""
    if not words["baseline"]:
        return session.report
    from . import baselining

    return baselining.only_new(
        session.report, words["baseline"], session.question, session.surroundings, words["paths"]
    )


def diff(words: Words) -> int:
    """Print the patch."""
    from ..reports import text
    from ..reports.patch import patch

    session = examine(words)
    report = session.report
    changed = [outcome for outcome in report.outcomes if isinstance(outcome, Changed)]
    for outcome in changed:
        name = _name_in_patch(outcome.source.path, session.surroundings.torch_root)
        sys.stdout.buffer.write(patch(name, outcome.source.content, outcome.after))
    sys.stdout.buffer.flush()
    sys.stderr.writelines(text.troubles(report.outcomes))
    sys.stderr.write(text.summary(report.outcomes, report.seen, written=False))
    return exit_code(report.outcomes, words, findings=bool(changed))


def fix(words: Words) -> int:
    """Write the changed files, each whole or not at all."""
    if words["add_ignore"] is not None:
        from .ignoring import add_ignores

        return add_ignores(words)
    if STDIN in words["paths"]:
        return _fix_stdin(words)
    if words["style"] == "junit" and not words["verifying"]:
        raise click.UsageError("--format junit is of a verification: fix --verify, or verify")
    if not words["allow_dirty"]:
        refuse_dirty(words["paths"])
    session = examine(words)
    if words["interactive"]:
        session = _chosen_by_hand(session, words)
    verdict = 0
    if words["verifying"]:
        session, verdict = _verified(session, words)
    report = session.report
    outcomes = tuple(write(outcome) if isinstance(outcome, Changed) else outcome for outcome in report.outcomes)
    show(replace(report, outcomes=outcomes), session.surroundings, words, written=True)
    left = any(isinstance(outcome, (Changed, Unchanged)) and outcome.offered for outcome in outcomes)
    lost = outcomes != report.outcomes
    if verdict == 3 and not lost:
        return verdict
    return 2 if lost else exit_code(outcomes, words, findings=left or bool(verdict))


def _chosen_by_hand(session: _Session, words: Words) -> _Session:
    from .choosing import choose, prover

    outcomes = choose(session.report.outcomes, session.question, session.surroundings, prover(words))
    return replace(session, report=replace(session.report, outcomes=outcomes))


def _verified(session: _Session, words: Words) -> tuple[_Session, int]:
    """What may be written, and 0 when that is proven, 3 when something made it worse and is left out, else 1."""
    from ..reports.proof import proof
    from .proving import CODES, Prover, show_junit
    from .sifting import keep_good

    outcomes = session.report.outcomes
    if not any(isinstance(outcome, Changed) for outcome in outcomes):
        if words["style"] == "junit":
            show_junit(None)
        return session, 0
    kept = keep_good(outcomes, session.question, session.surroundings, Prover(words))
    if kept.verification is not None:
        sys.stderr.writelines(proof(kept.verification))
    if words["style"] == "junit":
        show_junit(kept.verification, kept.dropped)
    for line in kept.dropped:
        click.echo(line, err=True)
    if kept.dropped and not any(isinstance(outcome, Changed) for outcome in kept.outcomes):
        click.echo("symfix: nothing was written; every file is as it was", err=True)
    code = 1 if kept.dropped or kept.verification is None else CODES.get(kept.verification.verdict, 1)
    return replace(session, report=replace(session.report, outcomes=kept.outcomes)), 3 if kept.harm else code


def _fix_stdin(words: Words) -> int:
    from ..reports import text

    if words["paths"] != (STDIN,):
        raise click.UsageError("'-' stands alone")
    report = examine(words).report
    (outcome,) = report.outcomes
    if isinstance(outcome, (Changed, Unchanged)):
        after = outcome.after if isinstance(outcome, Changed) else outcome.source.content
        sys.stdout.buffer.write(after)
        sys.stdout.buffer.flush()
    sys.stderr.writelines(text.troubles(report.outcomes))
    left = isinstance(outcome, (Changed, Unchanged)) and bool(outcome.offered)
    return exit_code(report.outcomes, words, findings=left)


def examine(words: Words, *, polish: bool = True, apply: bool = True) -> _Session:
    """Run the chosen rules over the paths."""
    registry = Registry()
    surroundings = TorchSurroundings(
        words["torch_root"],
        words["torch_python"],
        words["min_torch"],
        words["all_functions"],
        words["installed_torchgen"],
    )
    wishes = Wishes(unsafe=words["unsafe_fixes"], polish=polish, apply=apply)
    question = Question(_chosen(registry, words["select"], words["ignore"]), wishes, registry)
    wanted = {card.wing for card in registry.rules if card.name in question.rules}
    suffixes = frozenset(suffix for suffix, wing in registry.suffixes.items() if wing.package in wanted)
    jobs = words["jobs"] or default_jobs()
    try:
        with Progress() as progress:
            targets = _targets(words, suffixes)
            report = run(targets, question, surroundings, jobs=jobs, progress=progress)
            return _Session(question, surroundings, report)
    except TorchError as error:
        raise click.ClickException(str(error)) from None


def _targets(words: Words, suffixes: frozenset[str]) -> list[Target]:
    paths: tuple[Path, ...] = words["paths"]
    if STDIN not in paths:
        return list(find(paths, suffixes))
    name = words["stdin_filename"]
    if name is None:
        raise click.UsageError("'-' needs --stdin-filename: its suffix says the language")
    if len(paths) > 1:
        raise click.UsageError("'-' stands alone")
    return [Target(name, named=True, content=sys.stdin.buffer.read())]


def _chosen(registry: Registry, select: Sequence[str] | None, ignore: Sequence[str]) -> frozenset[str]:
    known = {card.name for card in registry.rules}
    for name in (*(select or ()), *ignore):
        if name not in known:
            raise click.UsageError(f"no rule {name!r}; `symfix rule` lists them")
    return frozenset(select or known) - frozenset(ignore)


def refuse_dirty(paths: Sequence[Path]) -> None:
    try:
        dirty = repository.dirty(paths, is_leaving)
    except repository.GitMissing as error:
        raise click.ClickException(f"{error}; --allow-dirty goes on without it") from None
    if dirty:
        more = f" and {len(dirty) - 1} more" if len(dirty) > 1 else ""
        raise click.ClickException(f"{dirty[0]}{more}: not committed; commit or stash first, or say --allow-dirty")


def _has_findings(outcome: Outcome) -> bool:
    return isinstance(outcome, Changed) or (isinstance(outcome, Unchanged) and bool(outcome.offered))


def _name_in_patch(path: Path, torch_root: Path | None) -> str:
    """The file as whoever applies the patch names it: from the repository's top, the tree's, or the working folder."""
    absolute = path.absolute()
    for folder in (repository.top(absolute.parent), torch_root and torch_root.absolute(), Path.cwd()):
        if folder is not None and absolute.is_relative_to(folder):
            return absolute.relative_to(folder).as_posix()
    return path.as_posix().lstrip("/")
