"""PyTorch tree of a command, and a warning if its release differs from that of the installed torch."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

import click

from ..torchapi.errors import TorchError
from ..torchapi.releases import NEWEST_TRIED
from ..torchapi.torch_finder import installed_version, release, tree_around, tree_version
from .arguments import TargetArguments

_PROOF = "a verification swaps what fits of its C++ and Python into that one"


def tree_meant(asked: TargetArguments, paths: Iterable[Path], *, verifying: bool) -> Path | None:
    """Return the named tree, or else the tree that contains all paths.

    An unnamed tree counts only if its release is that of the installed torch, since its schemas can then be read
    without running its code. Otherwise None is returned. A difference of releases is printed as one line, with its
    consequences.
    """
    try:
        if asked.torch_root is not None:
            say_release(asked.torch_root, asked.torch_python, f"the tree's schemas count; {_PROOF}")
            return asked.torch_root
        roots = {tree_around(path) for path in paths}
        root = roots.pop() if len(roots) == 1 else None
        proof = f"; {_PROOF}" if verifying else ""
        what = f"the schemas of that one count{proof}; --torch-root takes the tree's and runs its torchgen to read them"
        return None if say_release(root, asked.torch_python, what) else root
    except TorchError as error:
        raise click.ClickException(str(error)) from None


def say_release(root: Path | None, torch_python: Path | None, what: str) -> bool:
    """Print a line if a tree and the installed torch have different releases. Return whether a line was printed.

    ``what`` describes the consequences.
    """
    tree = tree_version(root) if root is not None else None
    installed = installed_version(torch_python) if tree is not None else None
    if tree is None or installed is None or release(tree) == release(installed):
        return False
    click.echo(f"symfix: {root} is PyTorch {tree}, the installed torch is {installed}: {what}", err=True)
    return True


@cache
def say_untried(torch_python: Path | None) -> None:
    """Print one line if the installed torch is of a newer release than any that symfix was tried with."""
    try:
        installed = installed_version(torch_python)
    except TorchError:
        return
    if installed is not None and release(installed) > NEWEST_TRIED:
        newest = ".".join(map(str, NEWEST_TRIED))
        click.echo(f"symfix: torch {installed} is newer than {newest}, the newest that symfix was tried with", err=True)
