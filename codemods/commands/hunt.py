"""``hunt``: failing operators, with the mode and the line of each failure."""

from __future__ import annotations

import json
import sys

import click

from ..harness.opinfo_runner import HIGHER_ORDER, HOPS, MODULES, OPERATORS, UNBACKED
from ..harness.resilient_batch import children
from ..system.generated_files import remember
from ..system.sigint import promise
from ..torchapi.errors import TorchError
from ..workflows.hunt.fuzz import Fuzz, fuzz
from ..workflows.hunt.json_report import to_json
from ..workflows.hunt.operator_names import UnknownOperator
from ..workflows.hunt.page import page
from ..workflows.hunt.sweep import HuntRequest, HuntSession, Sweep
from ..workflows.hunt.sweep import sweep as run_sweep
from ..workflows.hunt.text_report import plural, table
from ..workflows.hunt.workers import NothingRuns
from .arguments import Hunt
from .executor import workers
from .progress import Progress


def hunt(asked: Hunt) -> int:
    """Run the sweep, print the result, and write the page. Return 0 if every operator was run and passes, else 1."""
    promise("the same command goes on where this one was")
    if asked.stored and (asked.fresh or asked.examples is not None):
        raise click.UsageError("--stored goes with neither --fresh nor --fuzz")
    try:
        with Progress(quiet=asked.quiet) as progress, workers(asked.executor, asked.torch_python) as executor:
            if asked.examples is not None:
                if asked.executor is not None or asked.protocol != UNBACKED or asked.modules:
                    raise click.UsageError("--fuzz goes with none of --executor, --protocol and --modules")
                return _fuzz(asked, asked.examples, progress)
            promise("the same command goes on where this one was, and with --stored prints what there is")
            kind = subject_kind(asked.protocol, modules=asked.modules)
            progress.say(f"running {kind} with symbolic sizes")
            request = HuntRequest(
                asked.operators or None,
                UNBACKED if kind == HOPS else asked.protocol,
                kind,
                every_sample=asked.every_sample,
                samples=asked.samples,
            )
            session = HuntSession(
                torch_python=asked.torch_python,
                jobs=children(asked.jobs),
                fresh=asked.fresh,
                stored=asked.stored,
                executor=executor,
            )
            found = run_sweep(request, session, progress)
    except (TorchError, UnknownOperator, NothingRuns) as error:
        raise click.ClickException(str(error)) from None
    _show(found, asked)
    return 1 if found.failures or found.not_run else 0


def subject_kind(protocol: str, *, modules: bool) -> str:
    """Return the kind of subjects that ``--protocol`` and ``--modules`` choose. Raises UsageError."""
    if protocol == HIGHER_ORDER and modules:
        raise click.UsageError("--protocol hop and --modules exclude each other")
    return HOPS if protocol == HIGHER_ORDER else MODULES if modules else OPERATORS


def _fuzz(asked: Hunt, examples: int, progress: Progress) -> int:
    jobs = children(asked.jobs)
    progress.say("running operators with symbolic sizes on their own samples")
    samples = run_sweep(HuntRequest(), HuntSession(torch_python=asked.torch_python, jobs=jobs), progress)
    progress.say("drawing calls")
    found = fuzz(
        asked.operators,
        Fuzz(examples, asked.seed, asked.minutes),
        samples,
        torch_python=asked.torch_python,
        jobs=jobs,
        fresh=asked.fresh,
        progress=progress,
    )
    _show(found.sweep, asked)
    new = plural(len(found.sweep.failures), "new failure")
    late = f"; no time for {plural(len(found.late), 'operator')}" if found.late else ""
    click.echo(f"symfix: {found.calls:,} calls; {new}; {found.known} known or told{late}", err=True)
    return 1 if found.sweep.failures else 0


def _show(found: Sweep, asked: Hunt) -> None:
    if asked.style == "json":
        sys.stdout.write(json.dumps(to_json(found), indent=1) + "\n")
    else:
        sys.stdout.writelines(table(found))
    if asked.page is not None:
        try:
            asked.page.write_text(page(found), encoding="utf-8")
        except OSError as error:
            raise click.ClickException(f"--page {asked.page}: {error.strerror}") from None
        remember(asked.page)
        click.echo(f"symfix: page written to {asked.page}", err=True)
