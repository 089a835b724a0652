"""``widen``: integer arguments of PyTorch operators become SymInt throughout a source tree."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from ...schemas.analysis.native import NativeTree, native_tree
from ...schemas.analysis.overload_groups import family_of
from ...schemas.analysis.size_arguments import sizes
from ...schemas.rewrite.eligibility import hindered
from ...schemas.rewrite.plan import Plan, plan, texts_after
from ...schemas.syntax.entries import EntryError
from ..model.outcome import Changed, Refused
from ..model.source_file import SourceFile
from ..reports import text
from ..reports.patch import patch
from ..system.atomic_write import write
from ..torchapi.errors import TorchError
from ..torchapi.torch_finder import locate
from .arguments import Widen
from .check_session import refuse_dirty
from .torch_tree import say_release


def widen(asked: Widen) -> int:
    """Print the patch, or write it. Without operators, print the arguments that are sizes.

    Return 0 if all was widened, else 1.
    """
    if asked.torch_root is None:
        raise click.UsageError("schemas are changed in a source tree: name one with --torch-root")
    try:
        if asked.verifying:
            say_release(asked.torch_root, asked.torch_python, "the twins run in that one")
        tree = native_tree(locate(asked.torch_root, asked.torch_python))
        if not asked.operators:
            return _report(tree)
        made = plan(tree, _arguments(tree, asked))
    except (TorchError, EntryError) as error:
        raise click.ClickException(str(error)) from None
    sys.stderr.writelines(_said(made))
    if not made.widened:
        return 1
    changed = _changed(tree, made)
    if asked.verifying:
        from .widen_proof import proven

        code = proven(tree, made, changed, asked)
        if code:
            return code
    if asked.writing:
        _write(changed, asked, tree.root)
    else:
        for outcome in changed:
            name = outcome.source.path.relative_to(tree.root).as_posix()
            sys.stdout.buffer.write(patch(name, outcome.source.content, outcome.after))
    return 1 if made.left or made.kept else 0


def _report(tree: NativeTree) -> int:
    """Print the arguments that are sizes, each with the evidence. Return 1 if there are any, else 0."""
    found = sizes(tree)
    hindrances = hindered(tree, found)
    left = 0
    for (name, argument), one in found.items():
        kind = tree.entries[name].schema.argument(argument)
        assert kind is not None
        why = one.against[0] if one.against else hindrances.get(family_of(name), "")
        left += bool(why)
        click.echo(f"{name}: {kind.type} {argument} is a size: {one.reasons[0]}{f'; left: {why}' if why else ''}")
    said = f"{text.count(len(found) - left, 'argument')} can take SymInts, {left} {'is' if left == 1 else 'are'} left"
    click.echo(f"symfix: {said}", err=True)
    return 1 if found else 0


def _arguments(tree: NativeTree, asked: Widen) -> dict[str, tuple[str, ...]]:
    """Return the arguments to widen by operator: the named ones, else those that are sizes."""
    found = {} if asked.arguments else sizes(tree)
    wanted: dict[str, tuple[str, ...]] = {}
    for name in asked.operators:
        entry = tree.entries.get(name)
        if entry is None:
            raise click.ClickException(f"native_functions.yaml has no operator {name!r}")
        for argument in asked.arguments:
            own = entry.schema.argument(argument)
            if own is None or own.widened is None:
                kind = "has none of that name" if own is None else f"has it as {own.type}"
                raise click.ClickException(f"{argument!r} is no int of {name}: it {kind}")
        names = asked.arguments or tuple(one for (op, one), said in found.items() if op == name and not said.against)
        if not names:
            raise click.ClickException(f"nothing says that an int of {name} is a size; name it with --argument")
        wanted[name] = names
    return wanted


def _said(made: Plan) -> Iterator[str]:
    for name, names in made.widened.items():
        yield f"{name}: {', '.join(names)} take{'s' if len(names) == 1 else ''} a SymInt\n"
    for kernel in made.kernels:
        yield f"  {kernel.old} becomes {kernel.new}\n"
    for kernel, reason in made.kept.items():
        yield f"  {kernel.old} stays on integers, and pins the size: {reason}\n"
    for name, reason in made.left.items():
        yield f"{name} is left: {reason}\n"


def _changed(tree: NativeTree, made: Plan) -> list[Changed]:
    return [
        Changed(SourceFile(tree.root / path, before), after, ())
        for path, (before, after) in texts_after(tree, made).items()
    ]


def _write(changed: list[Changed], asked: Widen, root: Path) -> None:
    """Write all files or none. If one cannot be written, restore the others."""
    if not asked.allow_dirty:
        refuse_dirty([outcome.source.path for outcome in changed])
    done: list[Changed] = []
    for outcome in changed:
        came = write(outcome, root)
        if isinstance(came, Refused):
            for one in done:
                write(Changed(SourceFile(one.source.path, one.after), one.source.content, ()), root)
            raise click.ClickException(f"{came.path} {came.detail}; nothing was written")
        done.append(came)
    click.echo(f"symfix: {len(done)} files written", err=True)
