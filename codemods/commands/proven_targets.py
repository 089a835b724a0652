"""``fix --target``: what the export of a model proves, written to the files that were named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from ..harness.process_limits import Limits
from ..harness.resilient_batch import children
from ..harness.temp_folder import scratch_folder
from ..model.outcome import Changed, Refused
from ..model.source_file import SourceFile
from ..system.atomic_write import write
from ..torchapi.errors import TorchError
from ..workflows.export.outcome import ExportOutcome, FilePatch, TargetVerdict
from ..workflows.export.procedure import ExportRequest, export
from ..workflows.export.text import lines
from .arguments import STDIN, FixArguments
from .check_session import refuse_dirty
from .export import SECONDS, code_of
from .progress import Progress


def fix_targets(asked: FixArguments) -> int:
    """Export each target, and write the proven changes of files below the paths.

    Return 0 if all targets export and everything is written, 1 if not, 2 if a target is unusable.
    """
    if not asked.unsafe_fixes:
        raise click.UsageError("--target goes with --unsafe-fixes: where values decide, the program runs other code")
    if asked.verifying or asked.interactive or asked.add_ignore is not None or STDIN in asked.paths:
        raise click.UsageError("--target goes with paths alone: it proves by the export of the target")
    if not asked.allow_dirty:
        refuse_dirty(asked.paths)
    seconds = asked.timeout or SECONDS
    wanted = ExportRequest(
        asked.targets,
        Path.cwd(),
        torch_python=asked.torch_python,
        min_torch=asked.min_torch,
        jobs=children(asked.jobs),
        limits=Limits(wall=seconds, cpu=int(seconds) + 60),
    )
    try:
        with Progress(quiet=asked.quiet) as progress, scratch_folder() as scratch:
            outcome = export(wanted, scratch, progress.say)
    except TorchError as error:
        raise click.ClickException(str(error)) from None
    for line in lines(outcome):
        click.echo(line)
    plan = planned(outcome, asked.paths)
    left = [*plan.left, *_written(plan.files)]
    for line in left:
        click.echo(f"symfix: {line}", err=True)
    return code_of(outcome) or int(bool(left))


@dataclass(frozen=True)
class WritingPlan:
    """Files to write, and a line for each change that stays unwritten."""

    files: Sequence[FilePatch]
    left: Sequence[str]


def planned(outcome: ExportOutcome, paths: Sequence[Path]) -> WritingPlan:
    """Return what is written below the paths. A proof holds for all files of a target, so none is written alone."""
    texts: dict[Path, set[bytes]] = {}
    proven = [one for one in outcome.targets if one.verdict is TargetVerdict.PROVEN]
    for file in (file for one in proven for file in one.files):
        texts.setdefault(file.path, set()).add(file.after)
    found: dict[Path, FilePatch] = {}
    left = []
    named = [path.resolve() for path in paths]
    for one in proven:
        outside = [file for file in one.files if not any(file.path.resolve().is_relative_to(path) for path in named)]
        differing = [file for file in one.files if len(texts[file.path]) > 1]
        if outside:
            left.append(f"{one.target}: not written: {outside[0].name} is changed too; name it")
        elif differing:
            left.append(f"{one.target}: not written: another target needs {differing[0].name} otherwise; fix one first")
        else:
            found |= {file.path: file for file in one.files}
    return WritingPlan(tuple(found.values()), tuple(left))


def _written(files: Sequence[FilePatch]) -> list[str]:
    """Write the files, and return a line for each that could not be written."""
    left = []
    for file in files:
        done = write(Changed(SourceFile(file.path, file.before), file.after, ()))
        if isinstance(done, Refused):
            left.append(f"{file.name} {done.detail}")
        else:
            click.echo(f"symfix: {file.name} written", err=True)
    return left
