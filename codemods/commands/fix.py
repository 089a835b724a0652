"""``check``, ``diff`` and ``fix``: one run over the paths, with three kinds of output."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import click

from ..model.outcome import Changed, Outcome, Unchanged
from ..system import repository
from ..system.atomic_write import write
from .arguments import STDIN, CheckArguments, Examination, FixArguments
from .check_session import Session, examine, only_new, refuse_dirty
from .extras import say_missing_formatters
from .output import exit_code, show, summarize


def check(asked: CheckArguments) -> int:
    """Print the available fixes and the skipped places."""
    session = examine(asked, polish=False, executor=asked.executor)
    report = session.report
    if asked.write_baseline:
        from .baseline_update import note

        return note(report, asked.write_baseline)
    report = only_new(session, asked.baseline, asked)
    show(report, session.surroundings, asked, written=False)
    return exit_code(report.outcomes, asked, findings=any(map(_has_findings, report.outcomes)))


def diff(asked: Examination) -> int:
    """Print the patch."""
    from ..reports.patch import patch

    session = examine(asked)
    report = session.report
    changed = [outcome for outcome in report.outcomes if isinstance(outcome, Changed)]
    for outcome in changed:
        name = _name_in_patch(outcome.source.path, session.surroundings.torch_root)
        sys.stdout.buffer.write(patch(name, outcome.source.content, outcome.after))
    sys.stdout.buffer.flush()
    say_missing_formatters(report.outcomes, session.question)
    summarize(report, asked, written=False, hint=": see symfix check --show-left")
    return exit_code(report.outcomes, asked, findings=bool(changed))


def fix(asked: FixArguments) -> int:
    """Write the changed files, each completely or not at all."""
    if asked.targets:
        from .proven_targets import fix_targets

        return fix_targets(asked)
    if asked.add_ignore is not None:
        from .suppress import add_ignores

        return add_ignores(asked)
    if STDIN in asked.paths:
        return _fix_stdin(asked)
    if asked.style == "junit" and not asked.verifying:
        raise click.UsageError("--format junit is of a verification: fix --verify, or verify")
    if not asked.allow_dirty:
        refuse_dirty(asked.paths)
    if asked.verifying:
        from ..verify.prefetch import ask_ahead

        ask_ahead(asked.paths, asked.torch_python)
    session = examine(asked, verifying=asked.verifying)
    asked = replace(asked, torch_root=session.surroundings.torch_root)
    if asked.interactive:
        session = _chosen_by_hand(session, asked)
    verdict = 0
    if asked.verifying:
        from .manual_fixes import tried

        for line in tried(session.report.outcomes, asked):
            click.echo(line, err=True)
        session, verdict = _verified(session, asked)
    report = session.report
    outcomes = tuple(write(outcome) if isinstance(outcome, Changed) else outcome for outcome in report.outcomes)
    say_missing_formatters(outcomes, session.question)
    show(replace(report, outcomes=outcomes), session.surroundings, asked, written=True)
    left = any(isinstance(outcome, (Changed, Unchanged)) and outcome.offered for outcome in outcomes)
    lost = outcomes != report.outcomes
    if verdict == 3 and not lost:
        return verdict
    return 2 if lost else exit_code(outcomes, asked, findings=left or bool(verdict))


def _chosen_by_hand(session: Session, asked: FixArguments) -> Session:
    from .interactive import choose, prover

    outcomes = choose(session.report.outcomes, session.question, session.surroundings, prover(asked))
    return replace(session, report=replace(session.report, outcomes=outcomes))


def _verified(session: Session, asked: FixArguments) -> tuple[Session, int]:
    """Return the outcomes that may be written, with a code: 0 if they are proven, 3 for a regression, else 1.

    The code is also 3 if a dropped fix caused a regression.
    """
    from ..reports.proof import proof
    from .unconfirmed_fixes import keep_confirmed
    from .verify import CODES, SuccessiveVerifier, show_junit

    outcomes = session.report.outcomes
    if not any(isinstance(outcome, Changed) for outcome in outcomes):
        if asked.style == "junit":
            show_junit(None)
        return session, 0
    kept = keep_confirmed(outcomes, session.question, session.surroundings, SuccessiveVerifier(asked))
    if kept.verification is not None:
        sys.stderr.writelines(proof(kept.verification))
    if asked.style == "junit":
        show_junit(kept.verification, kept.dropped)
    for line in kept.dropped:
        click.echo(line, err=True)
    if kept.dropped and not any(isinstance(outcome, Changed) for outcome in kept.outcomes):
        click.echo("symfix: nothing was written; every file is as it was", err=True)
    code = 1 if kept.dropped or kept.verification is None else CODES.get(kept.verification.verdict, 1)
    return replace(session, report=replace(session.report, outcomes=kept.outcomes)), 3 if kept.harm else code


def _fix_stdin(asked: FixArguments) -> int:
    from ..reports import text

    if asked.paths != (STDIN,):
        raise click.UsageError("'-' stands alone")
    report = examine(asked).report
    (outcome,) = report.outcomes
    if isinstance(outcome, (Changed, Unchanged)):
        after = outcome.after if isinstance(outcome, Changed) else outcome.source.content
        sys.stdout.buffer.write(after)
        sys.stdout.buffer.flush()
    sys.stderr.writelines(text.troubles(report.outcomes))
    left = isinstance(outcome, (Changed, Unchanged)) and bool(outcome.offered)
    return exit_code(report.outcomes, asked, findings=left)


def _has_findings(outcome: Outcome) -> bool:
    return isinstance(outcome, Changed) or (isinstance(outcome, Unchanged) and bool(outcome.offered))


def _name_in_patch(path: Path, torch_root: Path | None) -> str:
    """Return the path that a patch names: relative to the repository, else to the torch tree or the working folder."""
    absolute = path.absolute()
    for folder in (repository.top(absolute.parent), torch_root and torch_root.absolute(), Path.cwd()):
        if folder is not None and absolute.is_relative_to(folder):
            return absolute.relative_to(folder).as_posix()
    return path.as_posix().lstrip("/")
