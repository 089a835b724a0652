"""``widen --verify``: the verification request for a plan, and the printed verdict."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from ...schemas.analysis.native import DERIVATIVES, FUNCTIONS, NativeTree
from ...schemas.analysis.overload_groups import family_of
from ...schemas.rewrite.plan import Plan
from ...schemas.syntax.entries import read_entries
from ..harness.temp_folder import scratch_folder
from ..model.edit import apply
from ..model.outcome import Changed
from ..torchapi import Kernel, TorchApi
from ..torchapi.torch_finder import locate
from ..verify.build.private_kernels import Twin
from ..verify.build.toolchain import CompilerMissing
from ..verify.change import Change, Verdict
from ..verify.schema_proof import OperatorSides, SchemaProofRequest, prove
from .arguments import Widen
from .progress import Progress
from .verify import CODES


def proven(tree: NativeTree, made: Plan, changed: Sequence[Changed], asked: Widen) -> int:
    """Verify a plan and print the proof. Return 0 if the plan may be written."""
    try:
        with Progress(quiet=asked.quiet) as progress, scratch_folder() as scratch:
            proof = prove(_question(tree, made, changed), locate(None, asked.torch_python), scratch, progress.say)
    except CompilerMissing as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"{proof.verdict.value}: {', '.join(made.widened)}", err=True)
    for line in proof.lines:
        click.echo(f"  {line}", err=True)
    return 0 if proof.verdict is Verdict.PROVEN else CODES.get(proof.verdict, 1) or 1


def _question(tree: NativeTree, made: Plan, changed: Sequence[Changed]) -> SchemaProofRequest:
    functions = apply(tree.functions, made.edits[FUNCTIONS])
    derivatives = apply(tree.derivatives, made.edits.get(DERIVATIVES, ()))
    return SchemaProofRequest(
        tree.root,
        {"native_functions.yaml": functions, "derivatives.yaml": derivatives},
        tuple(dict.fromkeys(family_of(name) for name in made.widened)),
        tuple(
            Change(one.source.path, one.source.content, one.after)
            for one in changed
            if one.source.path.suffix == ".cpp"
        ),
        {_included(tree.root, one.source.path): one.after for one in changed if one.source.path.suffix == ".h"},
        tuple(_sides(tree, made, functions)),
    )


def _included(root: Path, header: Path) -> str:
    """Return the path in an include directive for a header of the tree."""
    path = header.relative_to(root).as_posix()
    return path.removeprefix("aten/src/")


def _sides(tree: NativeTree, made: Plan, functions: bytes) -> list[OperatorSides]:
    after = read_entries(functions, str(FUNCTIONS))
    before_api = TorchApi.at(tree.place)
    found: list[OperatorSides] = []
    for one in made.kernels:
        old = _kernel(before_api, one.old, one.operator)
        new = _kernel(made.context.api, one.new, one.operator)
        if old is None or new is None:
            continue
        schema = tree.entries[one.operator].schema
        found.append(
            OperatorSides(
                schema.name,
                schema.overload,
                made.widened[one.operator],
                _twin(schema.text, one.old, old),
                _twin(after[one.operator].schema.text, one.new, new),
            )
        )
    return found


def _kernel(api: TorchApi, name: str, operator: str) -> Kernel | None:
    for kernel in api.kernels(name):
        overload = kernel.operator.overload
        if operator == (f"{kernel.operator.name}.{overload}" if overload else kernel.operator.name):
            return kernel
    return None


def _twin(schema: str, name: str, kernel: Kernel) -> Twin:
    return Twin(schema.replace('"', '\\"'), name, kernel.returns, tuple(kind for kind, _ in kernel.parameters))
