"""``export`` and ``apply-report``: export blockers of a model, a proven patch, and the remaining failures."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import replace
from pathlib import Path

import click

from ..harness.process_limits import Limits
from ..harness.resilient_batch import children
from ..harness.temp_folder import scratch_folder
from ..harness.torch_variant import Harness
from ..system.generated_files import remember
from ..system.sigint import promise
from ..torchapi.errors import TorchError
from ..torchapi.torch_finder import locate, release
from ..workflows.export.draft_report import BadReport, DraftReport, load, make, write
from ..workflows.export.folder import to_json
from ..workflows.export.folder import write as write_folder
from ..workflows.export.outcome import ExportOutcome, TargetVerdict
from ..workflows.export.page import page
from ..workflows.export.procedure import ExportRequest
from ..workflows.export.procedure import export as run_export
from ..workflows.export.skeleton import SKELETON
from ..workflows.export.text import lines
from .arguments import ApplyReport, Export
from .executor import workers
from .progress import Progress

SECONDS = 900.0


def export(asked: Export) -> int:
    """Try each target and write the folder.

    Return 0 if all export, unchanged or with a proven patch, 1 if some do not, 2 if a target is unusable.
    """
    if asked.command:
        from .own_command import export_from

        return export_from(asked, asked.command)
    if asked.init is not None:
        return _begin(asked.init)
    if not asked.targets:
        raise click.UsageError("name a target: script.py, script.py:function or module:function; --init writes one")
    if asked.dynamic and not asked.shapes:
        raise click.UsageError("--dynamic goes with --shape: a target says itself what is dynamic")
    if asked.report is not None:
        if asked.shapes:
            raise click.UsageError("--report takes a target; --shape describes one for the search alone")
        return _report(asked, asked.report)
    wanted = _wanted(asked, asked.targets, Path.cwd())
    described = {"shapes": asked.shapes, "dynamic": asked.dynamic} if asked.shapes else None
    return _run(replace(wanted, described=described), asked)


def apply_report(asked: ApplyReport) -> int:
    """Print the failures of a draft-export report and export its target. Return codes are those of `export`."""
    try:
        report = load(asked.file)
    except OSError as error:
        raise click.ClickException(f"{asked.file}: {error.strerror}") from None
    except BadReport as error:
        raise click.ClickException(str(error)) from None
    target = asked.target or report.target
    if not target:
        raise click.UsageError(
            f"{asked.file} names no target: add one, as in symfix apply-report {asked.file} model.py"
        )
    _require_same_torch(report, asked)
    for failure in report.failures:
        click.echo(f"reported: {failure}")
    folder = Path(report.folder) if report.folder and not asked.target else Path.cwd()
    return _run(_wanted(asked, (target,), folder), asked)


def _begin(path: Path) -> int:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(SKELETON)
    except OSError as error:
        raise click.ClickException(f"{path}: {error.strerror}") from None
    remember(path)
    click.echo(f"{path} written; change it, then: symfix export {path}")
    return 0


def _wanted(asked: Export | ApplyReport, targets: tuple[str, ...], folder: Path) -> ExportRequest:
    ways = asked.ways or (("compile",) if asked.unbacked else ("export",))
    if asked.unbacked and "export" in ways:
        raise click.UsageError("non-strict export knows no unbacked sizes: use --backend strict or compile")
    seconds = asked.timeout or SECONDS
    return ExportRequest(
        targets,
        folder,
        tuple(dict.fromkeys(ways)),
        asked.unbacked,
        asked.torch_python,
        asked.min_torch,
        children(asked.jobs),
        Limits(wall=seconds, cpu=int(seconds) + 60),
        prefer=asked.prefer or "",
        search_seconds=asked.search_time or math.inf,
    )


def _run(wanted: ExportRequest, asked: Export | ApplyReport) -> int:
    promise("nothing was written")
    try:
        with (
            Progress(quiet=asked.quiet) as progress,
            scratch_folder() as scratch,
            workers(asked.executor, asked.torch_python) as executor,
        ):
            outcome = run_export(replace(wanted, executor=executor), scratch, progress.say)
    except TorchError as error:
        raise click.ClickException(str(error)) from None
    show(outcome, asked)
    return code_of(outcome)


def code_of(outcome: ExportOutcome) -> int:
    """Return the exit code: 0 if all targets export, 1 if some do not, 2 if a target is unusable."""
    if any(one.verdict is TargetVerdict.UNUSABLE for one in outcome.targets):
        return 2
    return 0 if all(one.good for one in outcome.targets) else 1


def _report(asked: Export, path: Path) -> int:
    if len(asked.targets) > 1:
        raise click.UsageError("--report takes one target")
    try:
        with scratch_folder() as scratch:
            limits = Limits(wall=asked.timeout or SECONDS)
            laboratory = Harness(locate(None, asked.torch_python).python, scratch, limits)
            report = make(asked.targets[0], Path.cwd(), laboratory)
            write(report, path)
    except (TorchError, BadReport) as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"{path}: {error.strerror}") from None
    remember(path)
    click.echo(f"{len(report.failures)} failures written to {path}; next: symfix apply-report {path}")
    return 1 if report.failures else 0


def _require_same_torch(report: DraftReport, asked: ApplyReport) -> None:
    try:
        installed = locate(None, asked.torch_python).version
    except TorchError as error:
        raise click.ClickException(str(error)) from None
    if report.torch and release(report.torch) != release(installed):
        raise click.ClickException(f"{asked.file} is a report of torch {report.torch}; this one is {installed}")


def show(outcome: ExportOutcome, asked: Export | ApplyReport) -> None:
    """Print the outcome and write the folder and the page."""
    if asked.style == "json":
        sys.stdout.write(json.dumps(to_json(outcome), indent=1) + "\n")
    else:
        for line in lines(outcome):
            click.echo(line)
    try:
        patches = write_folder(outcome, asked.output) if _worth_a_folder(outcome) else []
        if asked.page is not None:
            asked.page.write_text(page(outcome), encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"{error.filename}: {error.strerror}") from None
    for written in (asked.output, asked.page) if patches else (asked.page,):
        if written is not None:
            remember(written)
    for path in patches:
        click.echo(f"symfix: patch written to {path}", err=True)
    if asked.page is not None:
        click.echo(f"symfix: page written to {asked.page}", err=True)


def _worth_a_folder(outcome: ExportOutcome) -> bool:
    return any(one.files for one in outcome.targets)
