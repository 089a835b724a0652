"""What ``check`` and ``fix`` print, in the form that was asked for."""

from __future__ import annotations

import sys

from ..engine.outcome import Failed, Outcome, Refused
from ..engine.registry import Registry
from ..engine.run import Report
from ..engine.surroundings import TorchSurroundings
from ..reports import text
from .asked import Examination, Shown


def show(report: Report, surroundings: TorchSurroundings, asked: Shown, *, written: bool) -> None:
    """Findings on stdout, troubles and the summary on stderr; ``written``: the changes are on disk."""
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
        # Stdout has the verification.
        sys.stderr.writelines(text.findings(outcomes, written=written))
    elif asked.statistics:
        sys.stdout.write(text.statistics(outcomes))
    else:
        sys.stdout.writelines(text.findings(outcomes, written=written))
    sys.stdout.flush()
    sys.stderr.writelines(text.troubles(outcomes))
    sys.stderr.write(text.summary(outcomes, report.seen, written=written))


def exit_code(outcomes: tuple[Outcome, ...], asked: Examination, *, findings: bool) -> int:
    """2 when a file that was named is refused or symfix broke on any, else 1 for findings, else 0."""
    named = set(asked.paths) | {asked.stdin_filename}
    refused = any(isinstance(outcome, Refused) and outcome.path in named for outcome in outcomes)
    if refused or any(isinstance(outcome, Failed) for outcome in outcomes):
        return 2
    return 1 if findings else 0


def _version() -> str:
    from importlib.metadata import version

    return version("symfix")
