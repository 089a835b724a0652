"""``explain``: a pasted error or log of torch, summarized in at most eight lines."""

from __future__ import annotations

import json
import sys

import click

from ..workflows.explain.cleanup import MOST_BYTES, Unreadable, decoded
from ..workflows.explain.explanation import explain as explain_text
from ..workflows.explain.report import to_json
from ..workflows.explain.text import lines
from .arguments import STDIN, Explain


def explain(asked: Explain) -> int:
    """Print the report. Return 0 for an error about sizes, 1 for another error of torch.

    Input without an error of torch raises ClickException, which exits with 2.
    """
    try:
        report = explain_text(decoded(_read(asked)))
    except OSError as error:
        raise click.ClickException(f"{asked.file}: {error.strerror}") from None
    except Unreadable as error:
        raise click.ClickException(f"{asked.file}: {error}") from None
    if asked.style == "json":
        click.echo(json.dumps(to_json(report), indent=1))
    else:
        for line in lines(report):
            click.echo(line)
    return 0 if report.about_sizes else 1


def _read(asked: Explain) -> bytes:
    """Return the content, read up to one byte past the limit, which is enough to detect that it is too long."""
    if asked.file == STDIN:
        return sys.stdin.buffer.read(MOST_BYTES + 1)
    with asked.file.open("rb") as file:
        return file.read(MOST_BYTES + 1)
