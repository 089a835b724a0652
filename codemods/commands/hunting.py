"""``hunt``: which operators fail, in which mode, at which line."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from ..hunt.document import to_json
from ..hunt.naming import UnknownOperator
from ..hunt.page import page
from ..hunt.sweep import Sweep
from ..hunt.sweep import sweep as run_sweep
from ..hunt.table import table
from ..hunt.workers import NothingRuns
from ..interrupting import promise
from ..torchapi.errors import TorchError
from .progress import Progress


def hunt(words: dict[str, Any]) -> int:
    """Sweep, print, and write the page. 0: every operator passes; 1: some fail."""
    promise("the same command goes on where this one was")
    try:
        with Progress() as progress:
            found = run_sweep(
                words["operators"] or None,
                words["protocol"],
                torch_python=words["torch_python"],
                jobs=words["jobs"] or 2,
                fresh=words["fresh"],
                every_sample=words["every_sample"],
                samples=words["samples"],
                progress=progress,
            )
    except (TorchError, UnknownOperator, NothingRuns) as error:
        raise click.ClickException(str(error)) from None
    _show(found, words)
    return 1 if found.failures else 0


def _show(found: Sweep, words: dict[str, Any]) -> None:
    if words["style"] == "json":
        sys.stdout.write(json.dumps(to_json(found), indent=1) + "\n")
    else:
        sys.stdout.writelines(table(found))
    if words["page"] is not None:
        try:
            words["page"].write_text(page(found), encoding="utf-8")
        except OSError as error:
            raise click.ClickException(f"--page {words['page']}: {error.strerror}") from None
        click.echo(f"symfix: page written to {words['page']}", err=True)
