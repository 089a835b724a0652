"""``export -- COMMAND``: repair of an export that fails in a user's own command, in the process where it failed."""

from __future__ import annotations

import math
import os
from contextlib import ExitStack
from pathlib import Path

import click

from ..harness.live_laboratory import Pipes, living
from ..harness.own_command import Attended, HeldCall, NoCommand, attended
from ..harness.process_limits import Limits
from ..harness.resilient_batch import children
from ..harness.temp_folder import scratch_folder
from ..system.sigint import promise
from ..torchapi.errors import TorchError
from ..workflows.export.outcome import ExportOutcome, TargetVerdict
from ..workflows.export.procedure import ExportRequest
from ..workflows.export.procedure import export as run_export
from ..workflows.repair.progress_metric import strip_advice
from .arguments import Export
from .export import SECONDS, code_of, show
from .progress import Progress

_WATCHED = "no call of torch.export.export, draft_export, torch.onnx.export or torch.compile failed"


def export_from(asked: Export, command: tuple[str, ...]) -> int:
    """Run the command and repair its first failing export.

    Return the exit code of that export. If none fails, return the exit code of the command, or 2 if it timed out.
    """
    _require_alone(asked)
    promise("nothing was written")
    with ExitStack() as stack:
        scratch = stack.enter_context(scratch_folder())
        pipes = Pipes(scratch, children(asked.jobs))
        stack.callback(pipes.close)
        try:
            running = stack.enter_context(attended(command, pipes))
            found = running.wait(asked.timeout)
        except NoCommand as error:
            raise click.ClickException(f"{command[0]}: {error}") from None
        if not isinstance(found, HeldCall):
            click.echo(f"symfix: {_nothing(running, found, asked.timeout)}", err=True)
            return 2 if found is None else found
        if found.broken:
            raise click.ClickException(f"{_words(found)}; no fork of that process can be tried: {found.broken}")
        if not asked.quiet:
            click.echo(f"symfix: {_words(found)}", err=True)
        outcome = _search(found, asked, pipes, scratch)
        pipes.end()
    show(outcome, asked)
    if outcome.targets[0].verdict is TargetVerdict.AS_IT_IS:
        click.echo("symfix: alone the model exports: the call fails for another reason than its code", err=True)
        return 1
    if outcome.targets[0].verdict is TargetVerdict.ONE_SIDED:
        click.echo("symfix: symfix.export(model, args, more=[...]) in Python takes further inputs", err=True)
    return code_of(outcome)


def _search(found: HeldCall, asked: Export, pipes: Pipes, scratch: Path) -> ExportOutcome:
    seconds = asked.timeout or SECONDS
    limits = Limits(wall=seconds, cpu=int(seconds) + 60)
    python = Path(found.python)
    unbacked = asked.unbacked or found.unbacked
    way = "compile" if unbacked and found.way == "export" else found.way
    with living(python, limits, pipes, [found.process]) as lab, Progress(quiet=asked.quiet) as progress:
        wanted = ExportRequest(
            (found.name,),
            Path.cwd(),
            tuple(dict.fromkeys(asked.ways or (way,))),
            unbacked,
            python,
            asked.min_torch,
            len(pipes.servers),
            limits,
            living=lab,
            prefer=asked.prefer or "",
            search_seconds=asked.search_time or math.inf,
        )
        try:
            return run_export(wanted, scratch, progress.say)
        except TorchError as error:
            raise click.ClickException(str(error)) from None


def _require_alone(asked: Export) -> None:
    others = {
        "a target": asked.targets,
        "--init": asked.init,
        "--report": asked.report,
        "--executor": asked.executor,
        "--torch-python": asked.torch_python,
        "--shape": asked.shapes,
        "--dynamic": asked.dynamic,
    }
    wrong = next((name for name, given in others.items() if given), None)
    if wrong is not None:
        raise click.UsageError(f"{wrong} does not go with a command behind --")
    if asked.unbacked and "export" in asked.ways:
        raise click.UsageError("non-strict export knows no unbacked sizes: use --backend strict or compile")


def _words(found: HeldCall) -> str:
    file, _, line = found.where.rpartition(":")
    where = f"{os.path.relpath(file)}:{line}" if Path(file).is_relative_to(Path.cwd()) else found.where
    return f"{found.kind} of {found.name} failed at {where}: {strip_advice(found.error)}"


def _nothing(running: Attended, code: int | None, seconds: float | None) -> str:
    calls = running.calls.total()
    watched = f"{_WATCHED}; {calls} {'call was' if calls == 1 else 'calls were'} watched"
    if running.broken:
        watched += f", and a process could not be: {running.broken}"
    elif not running.torches:
        watched += ": no Python that could be watched imported torch"
    if code is None:
        return f"the command was ended after {seconds:g} s; {watched}"
    return f"{watched}; the command exited with {code}" if code else watched
