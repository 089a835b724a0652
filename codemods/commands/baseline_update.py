"""``check --baseline`` and ``--write-baseline``: new findings are reported, all current findings are recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import click

from ..engine.baseline import Baseline, BaselineError, document
from ..engine.file_discovery import find
from ..engine.run import CheckRequest, RuleInputs, RunReport, drop_fixes
from ..model.outcome import Changed, Failed, Unchanged
from ..model.rule import Fix
from ..reports import text
from ..system.generated_files import remember
from .arguments import Examination


def only_new(
    report: RunReport, baseline: Path, question: CheckRequest, surroundings: RuleInputs, asked: Examination
) -> RunReport:
    """Return the report without the findings recorded in a baseline, and print how many of these no longer occur."""
    left_out = {card.name for card in question.registry.rules} - question.rules

    def without(outcome: Changed, fixes: Sequence[Fix]) -> Changed | Unchanged:
        return drop_fixes(outcome, fixes, question, surroundings.context())

    try:
        known = Baseline.read(baseline, left_out)
        outcomes, gone = known.without_known(report.outcomes, without, _silent(asked, question))
    except BaselineError as error:
        raise click.ClickException(str(error)) from None
    if gone:
        click.echo(
            f"gone: {text.count(gone, 'known finding')}; --write-baseline {baseline} forgets what is gone", err=True
        )
    return replace(report, outcomes=tuple(outcomes))


def _silent(asked: Examination, question: CheckRequest) -> Callable[[Path], bool]:
    """Return a predicate that is true for a path that the run read, and for a missing path below a named one."""
    folders = [path.absolute() for path in asked.paths]

    @cache
    def walked() -> frozenset[Path]:
        targets = find(asked.paths, question.registry.walked(question.rules), asked.exclude)
        return frozenset(target.path.absolute() for target in targets)

    def silent(path: Path) -> bool:
        return path in walked() if path.exists() else any(path.is_relative_to(folder) for folder in folders)

    return silent


def note(report: RunReport, baseline: Path) -> int:
    """Write a baseline that records every finding of the report."""
    failed = [outcome for outcome in report.outcomes if isinstance(outcome, Failed)]
    if failed:
        raise click.ClickException(f"{failed[0].path}: a bug of symfix; a baseline without this file would be no help")
    try:
        baseline.write_text(document(report.outcomes, baseline.absolute().parent), encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"{baseline}: can't be written: {error.strerror or error}") from None
    remember(baseline)
    kept = [outcome for outcome in report.outcomes if isinstance(outcome, (Changed, Unchanged))]
    count = sum(
        len(outcome.offered) + len(outcome.skips) + (len(outcome.applied) if isinstance(outcome, Changed) else 0)
        for outcome in kept
    )
    click.echo(f"{text.count(count, 'finding')} noted in {baseline}", err=True)
    return 0
