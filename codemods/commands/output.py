"""Output of ``check``, ``diff`` and ``fix`` in the requested format."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from ..engine.registry import Registry
from ..engine.run import RunReport
from ..engine.torch_context import TorchSurroundings
from ..model.outcome import Changed, Failed, Outcome, Refused
from ..reports import text
from .arguments import CheckArguments, Examination, FixArguments

COLOURS = {"old": "red", "new": "green", "caret": "cyan"}


def show(
    report: RunReport, surroundings: TorchSurroundings, asked: CheckArguments | FixArguments, *, written: bool
) -> None:
    """Print findings on stdout, and troubles and the summary on stderr. ``written``: the changes are on disk."""
    outcomes, style = report.outcomes, asked.style
    if style in ("json", "json-lines"):
        from ..reports import machine

        facts = {"tool": f"symfix {_version()}", "torch": surroundings.place.version}
        if style == "json":
            sys.stdout.write(machine.document(outcomes, report.seen, written=written, **facts))
        else:
            sys.stdout.writelines(machine.lines(outcomes, report.seen, written=written, **facts))
    elif style == "sarif":
        from ..reports import sarif

        sys.stdout.write(sarif.document(outcomes, Registry().rules, version=_version()))
    elif style == "github":
        from ..reports.github import workflow_commands

        sys.stdout.writelines(workflow_commands(outcomes))
    elif style == "junit":
        # Stdout contains the verification.
        sys.stderr.writelines(text.findings(outcomes, written=written, left=asked.show_left))
    elif asked.statistics:
        sys.stdout.write(text.statistics(outcomes))
    elif sys.stdout.isatty():
        _frames(outcomes, written=written, left=asked.show_left)
    else:
        sys.stdout.writelines(text.findings(outcomes, written=written, left=asked.show_left))
    sys.stdout.flush()
    hint = "" if asked.show_left or asked.statistics else ": see --show-left"
    summarize(report, asked, written=written, left=asked.show_left, hint=hint)


def summarize(report: RunReport, asked: Examination, *, written: bool, left: bool = False, hint: str = "") -> None:
    """Print troubles on stderr, and the summary unless ``--quiet`` is given."""
    sys.stderr.writelines(text.troubles(report.outcomes, left=left))
    if not asked.quiet:
        sys.stderr.write(text.summary(report.outcomes, report.seen, written=written, hint=hint))


def _frames(outcomes: Sequence[Outcome], *, written: bool, left: bool) -> None:
    from ..reports.frames import frame

    for outcome, answer in text.answers(outcomes, left=left):
        done = written and isinstance(outcome, Changed) and answer in outcome.applied
        click.secho(text.heading(outcome.source, answer, done=done), bold=True)
        for row in frame(outcome.source, answer):
            click.secho(row.text, fg=COLOURS.get(row.kind))
        click.echo(text.to_take_over(answer))


def exit_code(outcomes: tuple[Outcome, ...], asked: Examination, *, findings: bool) -> int:
    """Return 2 if a named file is refused or symfix failed on any file, else 1 for findings, else 0."""
    named = set(asked.paths) | {asked.stdin_filename}
    refused = any(isinstance(outcome, Refused) and outcome.path in named for outcome in outcomes)
    if refused or any(isinstance(outcome, Failed) for outcome in outcomes):
        return 2
    return 1 if findings else 0


def _version() -> str:
    from importlib.metadata import version

    return version("symfix")
