"""``repair``: failing operators are found, fixed and verified, and the results are written to a folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from ..harness.opinfo_runner import BACKED, CALLS, DYNAMIC, HOPS, INDUCTOR, OPERATORS, UNBACKED
from ..harness.resilient_batch import children
from ..harness.temp_folder import scratch_folder
from ..system.sigint import promise
from ..torchapi.errors import TorchError
from ..torchapi.torch_finder import locate
from ..verify.build.toolchain import CompilerMissing
from ..workflows.hunt.fuzz import Fuzz
from ..workflows.hunt.operator_names import UnknownOperator
from ..workflows.hunt.workers import NothingRuns
from ..workflows.pull_requests.regression.pr_test import CachedAdditions, RegressionBuilder
from ..workflows.repair.folder import figures, write
from ..workflows.repair.procedure import RepairRequest
from ..workflows.repair.procedure import repair as run_repair
from ..workflows.repair.result import RepairOutcome
from .arguments import RepairArguments
from .executor import workers
from .hunt import subject_kind
from .progress import Progress
from .torch_tree import say_release

_OF_OPERATORS = (BACKED, DYNAMIC, INDUCTOR)
"""Protocols whose proofs are about operators."""


def repair(asked: RepairArguments) -> int:
    """Repair and write the folder. Return 0 if every requested operator is repaired, else 1."""
    wanted = _wanted(asked)
    promise("the same command goes on where this one was")
    try:
        with (
            Progress(quiet=asked.quiet) as progress,
            scratch_folder() as scratch,
            workers(asked.executor, asked.torch_python) as executor,
        ):
            wanted = replace(wanted, executor=executor)
            added = None
            # Torch's list of expected failures and its test cover only the forward pass of operators.
            if (wanted.kind, wanted.protocol) == (OPERATORS, UNBACKED):
                workplace = RegressionBuilder(
                    locate(None, wanted.torch_python), scratch, wanted.torch_root, wanted.torch_python, wanted.jobs
                )
                added = CachedAdditions(workplace, progress.say)
            outcome = run_repair(wanted, scratch, progress.say, progress, added.make if added else None)
            if added:
                outcome = replace(outcome, repairs=tuple(added.complete(outcome.repairs)))
    except (TorchError, UnknownOperator, NothingRuns, CompilerMissing) as error:
        raise click.ClickException(str(error)) from None
    changed = write(outcome, asked.output, [added] if added else [])
    if changed:
        rest = f" and {len(changed) - 1} more" if changed[1:] else ""
        click.echo(f"{changed[0]}{rest}: of an earlier run and changed since, so not removed", err=True)
    _show(outcome, asked.output)
    return 0 if len(outcome.mended) + len(outcome.unblocked) == outcome.asked else 1


def _wanted(asked: RepairArguments) -> RepairRequest:
    named: tuple[str, ...] = asked.targets
    if not named and not asked.everything:
        raise click.UsageError("name operators, modules or files of torch, or say --all")
    if named and asked.everything:
        raise click.UsageError("--all takes no names")
    if asked.examples is not None and (asked.modules or asked.executor or asked.protocol != UNBACKED):
        raise click.UsageError("--fuzz goes with none of --executor, --protocol and --modules")
    if asked.modules and asked.protocol in _OF_OPERATORS:
        raise click.UsageError(f"--protocol {asked.protocol} and --modules exclude each other")
    kind = CALLS if asked.examples else subject_kind(asked.protocol, modules=asked.modules)
    files = frozenset(Path(name).resolve() for name in named if Path(name).suffix in (".py", ".cpp"))
    missing = [path for path in sorted(files) if not path.is_file()]
    if missing:
        raise click.ClickException(f"{missing[0]}: no such file")
    operators = tuple(name for name in named if Path(name).suffix not in (".py", ".cpp"))
    try:
        say_release(
            asked.torch_root, asked.torch_python, "Python is repaired there, C++ files of the tree where they fit"
        )
    except TorchError as error:
        raise click.ClickException(str(error)) from None
    return RepairRequest(
        operators or None,
        kind,
        UNBACKED if kind == HOPS else asked.protocol,
        asked.torch_root,
        asked.torch_python,
        children(asked.jobs),
        asked.fresh,
        files=files,
        fuzz=None if asked.examples is None else Fuzz(asked.examples, asked.seed, asked.minutes),
    )


def _show(outcome: RepairOutcome, folder: Path) -> None:
    counts = figures(outcome)
    modes = ", ".join(f"mode {mode}: {count}" for mode, count in sorted(counts["by_mode"].items()))
    languages = ", ".join(f"{language}: {count}" for language, count in sorted(counts["by_language"].items()))
    families = ", ".join(f"{family}: {count}" for family, count in sorted(counts["by_family"].items()))
    kinds = "; ".join(filter(None, (modes, languages, families)))
    said = f"proven fixed: {counts['proven']} of {counts['failing']} failing {outcome.kind}"
    click.echo(said + (f" ({kinds})" if kinds else ""))
    if counts["only_the_test"]:
        click.echo(f"  passing with a change of torch's tests alone: {len(counts['only_the_test'])}")
    for reason, count in sorted(counts["left"].items(), key=lambda item: (-item[1], item[0])):
        click.echo(f"  left, {reason}: {count}")
    click.echo(f"{counts['repairs']} patches, evidence and summary.md in {folder}")
