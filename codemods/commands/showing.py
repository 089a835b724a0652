"""What ``check`` and ``fix`` print, in the form that was asked for."""

from __future__ import annotations

import sys
from typing import Any

from ..outcome import Failed, Outcome, Refused
from ..registry import Registry
from ..reports import text
from ..run import Report
from ..surroundings import TorchSurroundings


def show(report: Report, surroundings: TorchSurroundings, words: dict[str, Any], *, written: bool) -> None:
    """Findings on stdout, troubles and the summary on stderr; ``written``: the changes are on disk."""
    outcomes, style = report.outcomes, words["style"]
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
    elif words["statistics"]:
        sys.stdout.write(text.statistics(outcomes))
    else:
        sys.stdout.writelines(text.findings(outcomes, written=written))
    sys.stdout.flush()
    sys.stderr.writelines(text.troubles(outcomes))
    sys.stderr.write(text.summary(outcomes, report.seen, written=written))


def exit_code(outcomes: tuple[Outcome, ...], words: dict[str, Any], *, findings: bool) -> int:
    """2 when a file that was named is refused or symfix broke on any, else 1 for findings, else 0."""
    named = set(words["paths"]) | {words["stdin_filename"]}
    refused = any(isinstance(outcome, Refused) and outcome.path in named for outcome in outcomes)
    if refused or any(isinstance(outcome, Failed) for outcome in outcomes):
        return 2
    return 1 if findings else 0


def _version() -> str:
    from importlib.metadata import version

    return version("symfix")
