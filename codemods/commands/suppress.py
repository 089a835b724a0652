"""``fix --add-ignore``: an ignore comment for each current finding, so that later runs report only new ones."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import click

from ..engine.file_discovery import DiscoveredFile
from ..engine.registry import load_language
from ..engine.run import CheckRequest, RuleInputs, run
from ..engine.suppression_edits import WHY_LEFT, Ignored, ignore, refusal
from ..model.outcome import Changed, Outcome, Refused, Unchanged
from ..reports import text
from ..system.atomic_write import write
from .arguments import STDIN, FixArguments
from .check_session import examine, refuse_dirty
from .output import exit_code


@dataclass
class _Tally:
    noted: int = 0
    files: int = 0
    left: int = 0


def add_ignores(asked: FixArguments) -> int:
    """Write the comments, and print the findings that got none with the reason."""
    reason = asked.add_ignore or ""
    if why := refusal(reason):
        raise click.UsageError(f"--add-ignore {reason!r}: {why}")
    if STDIN in asked.paths:
        raise click.UsageError("--add-ignore writes files; '-' is none")
    for given, option in ((asked.verifying, "--verify"), (asked.interactive, "--interactive")):
        if given:
            raise click.UsageError(f"--add-ignore changes no code: {option} has no meaning beside it")
    if not asked.allow_dirty:
        refuse_dirty(asked.paths)
    session = examine(asked, polish=False, apply=False)
    tally = _Tally()
    outcomes = tuple(
        _noted(outcome, reason, session.question, session.surroundings, tally) for outcome in session.report.outcomes
    )
    sys.stdout.flush()
    sys.stderr.writelines(text.troubles(outcomes))
    left = f"; {tally.left} left" if tally.left else ""
    click.echo(
        f"{text.count(tally.noted, 'finding')} in {text.count(tally.files, 'file')} now with a comment{left}", err=True
    )
    return exit_code(outcomes, asked, findings=bool(tally.left))


def _noted(outcome: Outcome, reason: str, question: CheckRequest, surroundings: RuleInputs, tally: _Tally) -> Outcome:
    if not isinstance(outcome, Unchanged) or not outcome.offered:
        return outcome
    source = outcome.source
    wing = question.registry.wing(source.path)
    assert wing is not None
    ignored = ignore(source, outcome.offered, load_language(wing.package), reason)
    why = WHY_LEFT
    if ignored.noted and not _silenced(ignored, outcome, question, surroundings):
        ignored, why = Ignored(source.content, (), outcome.offered), "with the comments the file has other findings"
    for fix in ignored.left:
        line, column = source.line_column(fix.start)
        click.echo(f"{source.path}:{line}:{column}: {fix.rule} left: {why}")
    tally.left += len(ignored.left)
    if not ignored.noted:
        return outcome
    written = write(Changed(source, ignored.after, ()))
    if isinstance(written, Refused):
        tally.left += len(ignored.noted)
        return written
    tally.noted += len(ignored.noted)
    tally.files += 1
    return outcome


def _silenced(ignored: Ignored, outcome: Unchanged, question: CheckRequest, surroundings: RuleInputs) -> bool:
    """Return whether the rules report exactly the findings without a comment for the commented text."""
    target = DiscoveredFile.of(outcome.source.path, ignored.after)
    (now,) = run([target], question, surroundings).outcomes
    if not isinstance(now, Unchanged):
        return False
    return sorted(fix.rule for fix in now.offered) == sorted(fix.rule for fix in ignored.left)
