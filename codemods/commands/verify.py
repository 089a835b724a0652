"""``verify``, and the verification that ``fix`` runs before it writes."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

import click

from ..engine.registry import Registry
from ..engine.torch_context import TorchSurroundings
from ..harness.process_limits import Limits, Network, SandboxMissing
from ..harness.resilient_batch import children
from ..harness.temp_folder import scratch_folder
from ..harness.torch_variant import Harness
from ..reports.proof import proof, remaining
from ..system import repository
from ..system.config import UNASKED
from ..system.generated_files import remember
from ..torchapi.errors import TorchError
from ..torchapi.torch_finder import locate
from ..verify.change import Change, Verdict, Verification
from ..verify.command import VerifySession
from ..verify.command import verify as run_verification
from ..verify.evidence import to_json
from ..verify.patched_files import BadPatch, PatchedFiles, patched_files
from ..verify.project.extension import Memory
from ..verify.project.opcheck_script import NoCall, written
from ..verify.remaining_uses import remaining_uses
from ..verify.request import VerifyRequest
from ..verify.user_scripts import Memory as Replays
from .arguments import FixArguments, Verify
from .executor import workers
from .progress import Progress
from .torch_tree import tree_meant

CODES = {Verdict.PROVEN: 0, Verdict.REGRESSED: 3, Verdict.BROKEN_BASELINE: 3}
"""Exit codes of the verdicts. Any other verdict counts as a finding (1)."""


def verify(asked: Verify) -> int:
    """Verify the difference between a revision and the files on disk, print the proof and return its exit code."""
    paths = asked.paths or (Path.cwd(),)
    asked = replace(asked, torch_root=tree_meant(asked, paths, verifying=True))
    prove = SuccessiveVerifier(asked)
    patched = None if asked.patch is None else _patched(asked.patch, paths)
    changes = list(_since(asked.base, paths)) if patched is None else list(patched.changes)
    others = () if patched is None else patched.others
    if not changes:
        than = asked.base if patched is None else "the files on disk"
        unjudged = f"; not judged: {', '.join(others)}" if others else ""
        click.echo(f"nothing that a rule reads differs from {than}{unjudged}", err=True)
        if asked.style == "junit":
            show_junit(None)
        return int(any(Registry().wing(Path(name)) for name in others))
    verification = prove(changes)
    if asked.style == "junit":
        show_junit(verification)
        return CODES.get(verification.verdict, 1)
    # As of the change itself, the installed torch decides, not a tree that `--torch-root` names.
    surroundings = TorchSurroundings(
        None, asked.torch_python, asked.min_torch, all_functions=True, drop_torchscript=True
    )
    uses = remaining_uses(changes, surroundings, Registry())
    if asked.style == "json":
        rows = [{**vars(use), "path": str(use.path)} for use in uses]
        answer = {**to_json(verification), "remaining_uses": rows, "not_judged": others}
        sys.stdout.write(json.dumps(answer, indent=2) + "\n")
    else:
        sys.stdout.writelines((*proof(verification), *remaining(uses, others)))
    return CODES.get(verification.verdict, 1)


def _patched(patch: Path, paths: Sequence[Path]) -> PatchedFiles:
    folder = paths[0].absolute()
    folder = folder if folder.is_dir() else folder.parent
    registry = Registry()
    scratch = click.get_current_context().with_resource(scratch_folder())
    try:
        top = repository.top(folder) or folder
        content = sys.stdin.buffer.read() if str(patch) == "-" else patch.read_bytes()
        return patched_files(content, top, scratch, lambda path: registry.wing(path) is not None)
    except (BadPatch, OSError) as error:
        raise click.UsageError(f"--diff {patch}: {getattr(error, 'strerror', None) or error}") from None


def show_junit(verification: Verification | None, dropped: Sequence[str] = ()) -> None:
    """Print a verification as JUnit XML for a CI server, including the dropped fixes."""
    from ..reports.junit import junit

    moment, host = datetime.now(timezone.utc), platform.node() or "localhost"
    lost = [(line.partition(" is not kept: ")[0], line.partition(" is not kept: ")[2]) for line in dropped]
    sys.stdout.write(junit(verification, moment=moment, host=host, dropped=lost))


class SuccessiveVerifier:
    """Verifier of successive sets of changes. The results of a project without changes are computed once."""

    def __init__(self, asked: FixArguments | Verify) -> None:
        """Check the command-line options. Raises UsageError if they conflict or name something unknown."""
        for repro in asked.repro:
            if not repro.is_file():
                raise click.UsageError(f"--repro {repro}: no such file")
        self._repros = (*asked.repro, *scripts(asked.calls))
        if asked.builds and asked.operators:
            raise click.UsageError("--op names torch's own operator tests: with --build, name a --test or a --repro")
        if asked.builds and not (asked.tests or self._repros):
            raise click.UsageError("--build alone proves nothing: name a --test, a --call or a --repro")
        context = click.get_current_context(silent=True)
        if context and context.meta.get(UNASKED) and not (asked.builds or asked.tests):
            click.echo(f"symfix: {context.meta[UNASKED]}", err=True)
        self._asked = asked
        self._operators = known_operators(asked.operators, asked.torch_python)
        self._memory: Memory = {}
        self._replays: Replays = {}

    def __call__(self, changes: Sequence[Change]) -> Verification:
        asked = self._asked
        limits = Limits(network=Network.LEFT if asked.sandbox == "require" else Network.LEFT_IF_POSSIBLE)
        try:
            executor = asked.executor if isinstance(asked, Verify) else None
            with Progress(quiet=asked.quiet) as progress, workers(executor, asked.torch_python) as executed:
                request = VerifyRequest(
                    tuple(changes),
                    repros=self._repros,
                    tests=tuple(asked.tests),
                    builds=tuple(asked.builds),
                    operators=self._operators or None,
                    drop_torchscript=asked.drop_torchscript,
                )
                session = VerifySession(
                    torch_python=asked.torch_python,
                    torch_root=asked.torch_root,
                    jobs=children(asked.jobs),
                    limits=limits,
                    timeout=asked.timeout,
                    evidence_folder=asked.evidence,
                    memory=self._memory,
                    replays=self._replays,
                    executor=executed,
                    progress=progress.say,
                )
                found = run_verification(request, session)
        except (TorchError, SandboxMissing) as error:
            raise click.ClickException(str(error)) from None
        if asked.evidence is not None:
            remember(asked.evidence)
        return found


def scripts(calls: Sequence[str], *, symbols: bool = True) -> list[Path]:
    """Return the scripts of some calls, in a folder that is removed when the command ends.

    Without ``symbols`` a script runs opcheck only.
    """
    if not calls:
        return []
    folder = click.get_current_context().with_resource(scratch_folder())
    try:
        return [written(call, folder, symbols=symbols) for call in calls]
    except NoCall as error:
        raise click.UsageError(f"--call {error}") from None


def known_operators(names: Sequence[str], torch_python: Path | None) -> tuple[str, ...]:
    """Return the OpInfo names that match these names. Raises UsageError for a name without an operator test."""
    if not names:
        return ()
    from ..workflows.hunt.operator_names import UnknownOperator, operators_of, resolve
    from ..workflows.hunt.workers import NothingRuns

    try:
        with scratch_folder() as scratch:
            torch = locate(None, torch_python)
            found = resolve(names, operators_of(Harness(torch.python, scratch, Limits()), torch))
    except UnknownOperator as error:
        raise click.UsageError(f"--op: {error}") from None
    except (TorchError, NothingRuns) as error:
        raise click.ClickException(str(error)) from None
    return tuple(dict.fromkeys(operator.name for operator in found))


def _since(base: str, paths: Sequence[Path]) -> Iterator[Change]:
    registry = Registry()
    try:
        for top, name in (found for path in paths for found in repository.changed(base, path, "M")):
            if registry.wing(top / name) is not None:
                before = repository.git(top, "show", "--end-of-options", f"{base}:{name}")
                yield Change(top / name, before, (top / name).read_bytes())
    except repository.GitFailed as error:
        raise click.ClickException(str(error)) from None
